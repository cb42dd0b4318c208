// A tensor in a few lines of text: what a person looks at first.
#pragma once

#include <span>
#include <string>

#include "model/observer.h"
#include "tensor/tensor.h"

namespace orrery {

struct TensorSummary {
  double smallest = 0, largest = 0, mean = 0;  // of the finite elements; 0 where there is none
  int64_t n_finite = 0;
  int64_t n_nan = 0;
  int64_t n_infinite = 0;        // above all numbers
  int64_t n_minus_infinite = 0;  // below all numbers: in attention scores what a row may not see
  int64_t first_nan = -1;        // indices of elements, -1: none
  int64_t first_infinite = -1;   // of either sign
};
// Of a contiguous F32 or F64 tensor.
TensorSummary summarize(const Tensor& tensor);

// Activations are [n, d] or, attention scores and weights, [heads, n, keys]: the row that an element belongs to.
int64_t row_of(const Tensor& tensor, int64_t index);

// Name, layer, positions, type and shape; smallest, largest, mean; the first values of the rows given (of all heads'
// rows the first head's); where NaN and infinity are. Each line ends with '\n'.
std::string tensor_report(const Probe& probe, const Tensor& tensor, std::span<const int64_t> rows);

}  // namespace orrery
