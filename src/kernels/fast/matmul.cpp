#include <algorithm>

#include "kernels/check_shapes.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/fast/rows.h"
#include "kernels/fast/stored.h"
#include "kernels/fast/tile_product.h"

namespace orrery {
namespace {

// Up to here dot products with weights that are read once beat tiles, for which weights have to be packed first (by a
// factor of 2 for two rows, not any more for eight) and, if they are not F32, widened before (still ahead at twelve).
int64_t few_rows(DType weights) { return weights == DType::F32 ? 8 : 12; }

// A piece reads so many bytes of weights. A thread takes two microseconds for them, which is what is lost by waiting
// for the slower thread at the end of each product.
constexpr int64_t kPieceBytes = 48 * 1024;

// Here OpenBLAS is fastest with tiles of many rows, because it packs the weights of a tile once for all of them.
// Widened weights of a tile must not fill the cache.
constexpr int64_t kTileRows = 512, kTileColumns = 192;
constexpr int64_t kPanelElements = 384 * 1024;
// Enough tiles to keep a laptop's cores busy, as long as they do not become too narrow.
constexpr int64_t kWantedTiles = 8, kNarrowestTile = 96;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t columns_of_a_tile(int64_t n_rows, int64_t n_in, int64_t n_out) {
  const int64_t row_tiles = divide_up(n_rows, kTileRows);
  const int64_t for_cache = kPanelElements / std::max<int64_t>(1, n_in);
  const int64_t for_threads = divide_up(n_out, divide_up(kWantedTiles, row_tiles));
  const int64_t columns = std::clamp(std::min(for_cache, for_threads), kNarrowestTile, kTileColumns);
  return divide_up(columns, 16) * 16;
}

}  // namespace

void FastKernels::matmul(const Tensor& x, const Tensor& w, Tensor& y) {
  check_matmul(activation_type(), x, w, y);
  if (x.shape[0] <= few_rows(w.dtype) && has_dots(w.dtype)) {
    matmul_few_rows(x, w, y);
  } else {
    matmul_in_tiles(x, w, y);
  }
}

void FastKernels::matmul_few_rows(const Tensor& x, const Tensor& w, Tensor& y) {
  const Rows in(x), out(y);
  const int64_t row_bytes = std::max<int64_t>(1, static_cast<int64_t>(bytes_of(w.dtype, in.width)));
  const int64_t grain = std::max<int64_t>(1, kPieceBytes / row_bytes);
  threads_.parallel_for(w.shape[0], grain, [&](int64_t begin, int64_t end) {
    const StoredRows weights = rows_of(w, begin, end - begin, 0, in.width);
    dots(loops_, weights, {in.data, in.stride}, in.count, out.data + begin, out.stride);
  });
}

void FastKernels::matmul_in_tiles(const Tensor& x, const Tensor& w, Tensor& y) {
  const Rows in(x), out(y);
  const int64_t n_in = in.width, n_out = w.shape[0];
  const int64_t tile_columns = columns_of_a_tile(in.count, n_in, n_out);
  const int64_t row_tiles = divide_up(in.count, kTileRows), column_tiles = divide_up(n_out, tile_columns);
  const bool is_widened = w.dtype != DType::F32;
  threads_.parallel_for(row_tiles * column_tiles, 1, [&](int64_t tile, int64_t) {
    // Tiles that share weights follow each other.
    const int64_t row = tile % row_tiles * kTileRows, column = tile / row_tiles * tile_columns;
    const TileShape shape = {
        .rows = std::min(kTileRows, in.count - row), .columns = std::min(tile_columns, n_out - column), .depth = n_in};
    const auto scratch = scratch_.borrow({is_widened ? shape.columns * n_in : 0});
    const FloatRows weights = as_floats(loops_, rows_of(w, column, shape.columns, 0, n_in), scratch[0]);
    multiply_transposed(loops_, shape, {in[row], in.stride}, weights, out[row] + column, out.stride);
  });
}

}  // namespace orrery
