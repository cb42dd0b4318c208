// A tensor of F32 seen as rows of its last dimension, whether they lie side by side or apart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"
#include "tensor/tensor.h"

namespace orrery {

struct Rows {
  explicit Rows(const Tensor& tensor)
      : data(values<float>(tensor)),
        width(tensor.shape[tensor.n_dims - 1]),
        count(width == 0 ? 0 : n_elements(tensor) / width),
        stride(tensor.n_dims == 2 ? tensor.stride[0] : width) {}

  float* operator[](int64_t i) const { return data + i * stride; }

  float* data;
  int64_t width;
  int64_t count;
  int64_t stride;  // from row to row
};

// Rows of one piece of a parallel loop: so many elements that starting threads pays.
inline int64_t rows_of_a_piece(int64_t width) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)); }

// Calls body(row) for all rows.
template <class Body>
void for_each_row(const Threads& threads, const Rows& rows, const Body& body) {
  threads.parallel_for(rows.count, rows_of_a_piece(rows.width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row);
  });
}

}  // namespace orrery
