#include "kernels/fast/backward_product.h"

#ifdef ORRERY_OPENBLAS
#include <cblas.h>
#endif

namespace orrery {

#ifdef ORRERY_OPENBLAS

void multiply_first_transposed_and_add(const Loops&, ScratchPool&, TileShape shape, FloatRows a, FloatRows b, float* c,
                                       int64_t c_stride) {
  const auto narrow = [](int64_t size) { return static_cast<blasint>(size); };
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, narrow(shape.rows), narrow(shape.columns), narrow(shape.depth),
              1.0f, a.data, narrow(a.stride), b.data, narrow(b.stride), 1.0f, c, narrow(c_stride));
}

#else

void multiply_first_transposed_and_add(const Loops& loops, ScratchPool& scratch, TileShape shape, FloatRows a,
                                       FloatRows b, float* c, int64_t c_stride) {
  const auto turned = scratch.borrow({shape.rows * shape.depth});
  for (int64_t l = 0; l < shape.depth; ++l) {
    for (int64_t i = 0; i < shape.rows; ++i) turned[0][i * shape.depth + l] = a.data[l * a.stride + i];
  }
  multiply_and_add(loops, shape, {turned[0], shape.depth}, b, c, c_stride);
}

#endif

}  // namespace orrery
