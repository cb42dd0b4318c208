// Matrix products for builds without OpenBLAS. A tile of c, 6 rows by 16 columns, stays in registers (12 of the 16 of
// x86-64-v3) while k runs: 96 multiply-adds for 22 loaded numbers. The 16 columns of b are packed side by side first
// and then serve all rows of a. (Goto and van de Geijn, 2008, "Anatomy of High-Performance Matrix Multiplication".)
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

constexpr int kRows = 6, kColumns = 16;
constexpr int64_t kDeepest = 384;  // packed columns of this depth stay in the first-level cache

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// packed[l][j] = b[l][j] for 16 columns, zeros where b has fewer.
void pack(const Loops::Product& p, int64_t first_l, int64_t depth, int64_t first_j, float* packed) {
  const float* b = p.b + first_l * p.b_row_stride + first_j * p.b_column_stride;
  const int64_t n_columns = smaller(kColumns, p.n - first_j);
  for (int64_t j = 0; j < n_columns; ++j) {
    const float* column = b + j * p.b_column_stride;
    for (int64_t l = 0; l < depth; ++l) packed[l * kColumns + j] = column[l * p.b_row_stride];
  }
  for (int64_t j = n_columns; j < kColumns; ++j) {
    for (int64_t l = 0; l < depth; ++l) packed[l * kColumns + j] = 0;
  }
}

// c[6][16] = or += six rows of a, to which rows[] points, times packed.
void multiply_tile(const float* const* rows, const float* packed, int64_t depth, bool adds, float* c,
                   int64_t c_stride) {
  float sums[kRows][kColumns];
#pragma GCC unroll 6
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
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    float* line = c + r * c_stride;
    if (adds) {
#pragma omp simd
      for (int j = 0; j < kColumns; ++j) line[j] += sums[r][j];
    } else {
#pragma omp simd
      for (int j = 0; j < kColumns; ++j) line[j] = sums[r][j];
    }
  }
}

// The same where c has fewer rows or columns left.
void multiply_partial_tile(const float* const* rows, const float* packed, int64_t depth, bool adds, int64_t n_rows,
                           int64_t n_columns, float* c, int64_t c_stride) {
  float tile[kRows * kColumns];
  multiply_tile(rows, packed, depth, false, tile, kColumns);
  for (int64_t r = 0; r < n_rows; ++r) {
    for (int64_t j = 0; j < n_columns; ++j) {
      float& sum = c[r * c_stride + j];
      sum = (adds ? sum : 0) + tile[r * kColumns + j];
    }
  }
}

}  // namespace

void multiply(const Loops::Product& p) {
  alignas(64) float packed[kDeepest * kColumns];
  // Equal parts: a short one at the end would spend its time on loading and storing c.
  const int64_t n_parts = p.k > kDeepest ? (p.k + kDeepest - 1) / kDeepest : 1;
  const int64_t part = (p.k + n_parts - 1) / n_parts;
  for (int64_t n_done = 0; n_done < n_parts; ++n_done) {
    const int64_t first_l = n_done * part, depth = smaller(part, p.k - first_l);
    const bool adds = p.adds || n_done > 0;
    for (int64_t j = 0; j < p.n; j += kColumns) {
      const int64_t n_columns = smaller(kColumns, p.n - j);
      pack(p, first_l, depth, j, packed);
      for (int64_t i = 0; i < p.m; i += kRows) {
        const int64_t n_rows = smaller(kRows, p.m - i);
        const float* rows[kRows];
        for (int64_t r = 0; r < kRows; ++r) rows[r] = p.a + (i + smaller(r, n_rows - 1)) * p.a_stride + first_l;
        float* c = p.c + i * p.c_stride + j;
        if (n_rows == kRows && n_columns == kColumns) {
          multiply_tile(rows, packed, depth, adds, c, p.c_stride);
        } else {
          multiply_partial_tile(rows, packed, depth, adds, n_rows, n_columns, c, p.c_stride);
        }
      }
    }
  }
}

}  // namespace orrery::ORRERY_ISA
