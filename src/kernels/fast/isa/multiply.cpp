// Matrix products for builds without OpenBLAS. Twelve (x86-64-v3) registers hold a tile of c, 6 rows by 16 columns,
// while k runs: 96 multiply-adds for 22 loaded numbers. (Goto and van de Geijn, 2008, is where this is explained.)
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

constexpr int kRows = 6, kColumns = 16;
constexpr int64_t kDepth = 256;  // 16 columns of b, this deep, stay in the first-level cache

// packed[l][j] = b[l][j] for 16 columns, zeros where b has fewer.
void pack(const float* b, int64_t row_stride, int64_t column_stride, int64_t depth, int64_t columns, float* packed) {
  for (int64_t l = 0; l < depth; ++l) {
    for (int64_t j = 0; j < kColumns; ++j) {
      packed[l * kColumns + j] = j < columns ? b[l * row_stride + j * column_stride] : 0;
    }
  }
}

// tile[6][16] = 6 rows of a (rows[r] points at each) times packed.
void multiply_tile(const float* const* rows, const float* packed, int64_t depth, float* tile) {
  float sums[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
#pragma omp simd
    for (int j = 0; j < kColumns; ++j) sums[r][j] = 0;
  }
  for (int64_t l = 0; l < depth; ++l, packed += kColumns) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const float value = rows[r][l];
#pragma omp simd
      for (int j = 0; j < kColumns; ++j) sums[r][j] += value * packed[j];
    }
  }
  for (int r = 0; r < kRows; ++r) {
#pragma omp simd
    for (int j = 0; j < kColumns; ++j) tile[r * kColumns + j] = sums[r][j];
  }
}

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace

void multiply(const Loops::Product& p) {
  float packed[kDepth * kColumns], tile[kRows * kColumns];
  for (int64_t l = 0; l < p.k || l == 0; l += kDepth) {
    const int64_t depth = smaller(kDepth, p.k - l);
    const bool adds = p.adds || l > 0;
    for (int64_t j = 0; j < p.n; j += kColumns) {
      const int64_t columns = smaller(kColumns, p.n - j);
      pack(p.b + l * p.b_row_stride + j * p.b_column_stride, p.b_row_stride, p.b_column_stride, depth, columns, packed);
      for (int64_t i = 0; i < p.m; i += kRows) {
        const int64_t n_rows = smaller(kRows, p.m - i);
        const float* rows[kRows];
        for (int64_t r = 0; r < kRows; ++r) rows[r] = p.a + (i + (r < n_rows ? r : 0)) * p.a_stride + l;
        multiply_tile(rows, packed, depth, tile);
        for (int64_t r = 0; r < n_rows; ++r) {
          float* c = p.c + (i + r) * p.c_stride + j;
          for (int64_t column = 0; column < columns; ++column) {
            c[column] = (adds ? c[column] : 0) + tile[r * kColumns + column];
          }
        }
      }
    }
  }
}

}  // namespace orrery::ORRERY_ISA
