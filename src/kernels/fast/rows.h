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

// Calls body(row) for all rows, shared out in pieces of so many elements that starting threads pays.
template <class Body>
void for_each_row(const Threads& threads, const Rows& rows, const Body& body) {
  constexpr int64_t kPieceElements = 16384;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, rows.width));
  threads.parallel_for(rows.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row);
  });
}

}  // namespace orrery
