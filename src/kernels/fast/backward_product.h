// The matrix product that only the way back needs: the first factor is read column by column.
#pragma once

#include "kernels/fast/scratch.h"
#include "kernels/fast/tile_product.h"

namespace orrery {

// c[rows, columns] += a[depth, rows]^T * b[depth, columns]; without OpenBLAS, a goes through `scratch` once.
void multiply_first_transposed_and_add(const Loops& loops, ScratchPool& scratch, TileShape shape, FloatRows a,
                                       FloatRows b, float* c, int64_t c_stride);

}  // namespace orrery
