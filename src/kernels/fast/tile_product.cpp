#include "kernels/fast/tile_product.h"

#ifdef ORRERY_OPENBLAS
#include <cblas.h>
#endif

namespace orrery {

#ifdef ORRERY_OPENBLAS

namespace {

void call_blas(TileShape shape, FloatRows a, CBLAS_TRANSPOSE transpose_b, FloatRows b, float beta, float* c,
               int64_t c_stride) {
  const auto narrow = [](int64_t size) { return static_cast<blasint>(size); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b, narrow(shape.rows), narrow(shape.columns), narrow(shape.depth),
              1.0f, a.data, narrow(a.stride), b.data, narrow(b.stride), beta, c, narrow(c_stride));
}

}  // namespace

void hold_blas_to_one_thread() { openblas_set_num_threads(1); }

void multiply_transposed(const Loops&, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride) {
  call_blas(shape, a, CblasTrans, b, 0.0f, c, c_stride);
}

void multiply_and_add(const Loops&, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride) {
  call_blas(shape, a, CblasNoTrans, b, 1.0f, c, c_stride);
}

#else

namespace {

Loops::Product product(TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride) {
  return {.m = shape.rows,
          .n = shape.columns,
          .k = shape.depth,
          .a = a.data,
          .a_stride = a.stride,
          .b = b.data,
          .b_row_stride = b.stride,
          .b_column_stride = 1,
          .c = c,
          .c_stride = c_stride,
          .adds = false};
}

}  // namespace

void hold_blas_to_one_thread() {}

void multiply_transposed(const Loops& loops, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride) {
  Loops::Product p = product(shape, a, b, c, c_stride);
  p.b_row_stride = 1;
  p.b_column_stride = b.stride;
  loops.multiply(p);
}

void multiply_and_add(const Loops& loops, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride) {
  Loops::Product p = product(shape, a, b, c, c_stride);
  p.adds = true;
  loops.multiply(p);
}

#endif

}  // namespace orrery
