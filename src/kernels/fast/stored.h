// Rows of numbers in any type, as F32.
#pragma once

#include <cstdint>

#include "kernels/fast/isa/loops.h"
#include "tensor/tensor.h"

namespace orrery {

// `n_rows` rows of `n` elements, `row_bytes` apart from each other.
struct StoredRows {
  DType dtype;
  const std::byte* data;
  int64_t row_bytes;
  int64_t n_rows;
  int64_t n;
};

struct FloatRows {
  const float* data;
  int64_t stride;  // from row to row
};

// Rows [first, first + count) of a matrix, and of these the columns [column, column + n).
StoredRows rows_of(const Tensor& matrix, int64_t first, int64_t count, int64_t column, int64_t n);

// Writes them to target[n_rows, n].
void widen(const Loops& loops, const StoredRows& rows, float* target);
// F32 rows as they are; others through scratch[n_rows, n].
FloatRows as_floats(const Loops& loops, const StoredRows& rows, float* scratch);

// y[k][r] = row r of `rows` * row k of x, for n_x rows of x. With parts, a row is cut into as many of the same length,
// each of which has its own n_x rows of x and y: y[part * n_x + k][r] = part of row r * row (part * n_x + k) of x.
void dots(const Loops& loops, const StoredRows& rows, FloatRows x, int64_t n_x, float* y, int64_t y_stride,
          int64_t n_parts = 1);
// False for F64, of which there are no such dot products.
bool has_dots(DType dtype);

}  // namespace orrery
