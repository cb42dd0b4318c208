// A matrix product small enough for one thread, by OpenBLAS where there is one, else by our own loops.
#pragma once

#include <cstdint>

#include "kernels/fast/isa/loops.h"
#include "kernels/fast/stored.h"

namespace orrery {

// OpenBLAS shall start no threads: its own results depend on their number, and ours call it from several at a time.
void hold_blas_to_one_thread();

struct TileShape {
  int64_t rows, columns;  // of c
  int64_t depth;          // elements in each sum
};

// c[rows, columns] = a[rows, depth] * b[columns, depth]^T
void multiply_transposed(const Loops& loops, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride);
// c[rows, columns] += a[rows, depth] * b[depth, columns]
void multiply_and_add(const Loops& loops, TileShape shape, FloatRows a, FloatRows b, float* c, int64_t c_stride);

}  // namespace orrery
