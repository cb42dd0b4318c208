#include "kernels/fast/stored.h"

#include <cstring>

#include "tensor/convert.h"

namespace orrery {

StoredRows rows_of(const Tensor& matrix, int64_t first, int64_t count, int64_t column, int64_t n) {
  return {.dtype = matrix.dtype,
          .data = row_data(matrix, first) + bytes_of(matrix.dtype, column),
          .row_bytes = static_cast<int64_t>(bytes_of(matrix.dtype, matrix.stride[0])),
          .n_rows = count,
          .n = n};
}

void widen(const Loops& loops, const StoredRows& rows, float* target) {
  switch (rows.dtype) {
    case DType::F16: return loops.widen_f16(rows.data, rows.row_bytes, rows.n_rows, rows.n, target);
    case DType::BF16: return loops.widen_bf16(rows.data, rows.row_bytes, rows.n_rows, rows.n, target);
    case DType::Q8_0: return loops.widen_q8_0(rows.data, rows.row_bytes, rows.n_rows, rows.n, target);
    case DType::F32:
    case DType::F64: break;
  }
  for (int64_t r = 0; r < rows.n_rows; ++r) {
    const std::byte* row = rows.data + r * rows.row_bytes;
    convert_row(rows.dtype, row, DType::F32, reinterpret_cast<std::byte*>(target + r * rows.n), rows.n);
  }
}

FloatRows as_floats(const Loops& loops, const StoredRows& rows, float* scratch) {
  if (rows.dtype == DType::F32) {
    return {reinterpret_cast<const float*>(rows.data), rows.row_bytes / static_cast<int64_t>(sizeof(float))};
  }
  widen(loops, rows, scratch);
  return {scratch, rows.n};
}

void dots(const Loops& loops, const StoredRows& rows, FloatRows x, int64_t n_x, float* y, int64_t y_stride,
          int64_t n_parts) {
  const Loops::DotProducts products = {.w = rows.data,
                                       .row_bytes = rows.row_bytes,
                                       .n_rows = rows.n_rows,
                                       .n_parts = n_parts,
                                       .x = x.data,
                                       .x_stride = x.stride,
                                       .n_x = n_x,
                                       .n = rows.n / n_parts,
                                       .y = y,
                                       .y_stride = y_stride};
  switch (rows.dtype) {
    case DType::F32: return loops.dots_f32(products);
    case DType::F16: return loops.dots_f16(products);
    case DType::BF16: return loops.dots_bf16(products);
    case DType::Q8_0: return loops.dots_q8_0(products);
    case DType::F64: break;
  }
}

bool has_dots(DType dtype) { return dtype != DType::F64; }

}  // namespace orrery
