// Products with a matrix that is packed once and then serves every time step: 16 of its columns side by side, so that a
// tile of up to 6 rows by 16 columns stays in registers while the depth runs.
#include "kernels/fast/isa/recurrent_functions.h"

namespace orrery::ORRERY_ISA {
namespace {

template <int kRows>
void multiply_rows(const float* a, int64_t a_stride, const float* packed, int64_t depth, float* c, int64_t c_stride) {
  float sums[kRows][kPanelColumns];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma omp simd
    for (int j = 0; j < kPanelColumns; ++j) sums[r][j] = 0;
  }
  for (int64_t l = 0; l < depth; ++l, packed += kPanelColumns) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * a_stride + l];
#pragma omp simd
      for (int j = 0; j < kPanelColumns; ++j) sums[r][j] += value * packed[j];
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma omp simd
    for (int j = 0; j < kPanelColumns; ++j) c[r * c_stride + j] = sums[r][j];
  }
}

}  // namespace

// Tiles of six rows, but none of less than four where it can be helped: these would leave the multipliers waiting.
void multiply_panel(const RecurrentLoops::PanelProduct& p) {
  for (int64_t row = 0; row < p.n_rows;) {
    const int64_t left = p.n_rows - row;
    const int64_t count = left == 8 || left == 7 ? 4 : left > 6 ? 6 : left;
    const float* a = p.a + row * p.a_stride;
    float* c = p.c + row * p.c_stride;
    switch (count) {
      case 1: multiply_rows<1>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
      case 2: multiply_rows<2>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
      case 3: multiply_rows<3>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
      case 4: multiply_rows<4>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
      case 5: multiply_rows<5>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
      default: multiply_rows<6>(a, p.a_stride, p.packed, p.depth, c, p.c_stride); break;
    }
    row += count;
  }
}

}  // namespace orrery::ORRERY_ISA
