#include <algorithm>

#include "kernels/backward_checks.h"
#include "kernels/check_shapes.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/backward_product.h"
#include "kernels/fast/rows.h"

namespace orrery {
namespace {

// Tiles of the result. OpenBLAS copies both factors of a tile before it multiplies, so wide tiles are faster; enough of
// them keep a laptop's cores busy to the end.
constexpr int64_t kTileRows = 512, kTileColumns = 384;
constexpr int64_t kWantedTiles = 6, kSmallestSide = 192;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The side of tiles that cut n into equal parts of at most `longest`, up to a multiple of 16.
int64_t even_side(int64_t n, int64_t longest) { return divide_up(divide_up(n, divide_up(n, longest)), 16) * 16; }

struct Tiles {
  int64_t rows, columns;

  // Of a result [n_rows, n_columns].
  Tiles(int64_t n_rows, int64_t n_columns)
      : rows(even_side(std::max<int64_t>(1, n_rows), kTileRows)),
        columns(even_side(std::max<int64_t>(1, n_columns), kTileColumns)) {
    const auto count = [&] { return divide_up(n_rows, rows) * divide_up(n_columns, columns); };
    while (count() < kWantedTiles && std::max(rows, columns) >= 2 * kSmallestSide) {
      (columns >= rows ? columns : rows) /= 2;
    }
  }

  // Calls body(row, column, n_rows, n_columns) for every tile.
  template <class Body>
  void for_each(const Threads& threads, int64_t all_rows, int64_t all_columns, const Body& body) const {
    const int64_t row_tiles = divide_up(all_rows, rows), column_tiles = divide_up(all_columns, columns);
    threads.parallel_for(row_tiles * column_tiles, 1, [&](int64_t tile, int64_t) {
      const int64_t row = tile % row_tiles * rows, column = tile / row_tiles * columns;
      body(row, column, std::min(rows, all_rows - row), std::min(columns, all_columns - column));
    });
  }
};

}  // namespace

void FastBackward::matmul_input(const Tensor& dy, const Tensor& w, Tensor& dx) {
  check_matmul(activation_type(), dx, w, dy);
  check_gradient("matmul", activation_type(), w, w);
  const Rows slopes(dy), weights(w), out(dx);
  const int64_t n_out = weights.count;
  Tiles(out.count, out.width)
      .for_each(threads_, out.count, out.width, [&](int64_t row, int64_t column, int64_t n_rows, int64_t n_columns) {
        multiply_and_add(loops_, {.rows = n_rows, .columns = n_columns, .depth = n_out}, {slopes[row], slopes.stride},
                         {weights.data + column, weights.stride}, out[row] + column, out.stride);
      });
}

void FastBackward::matmul_weight(const Tensor& dy, const Tensor& x, Tensor& dw) {
  check_matmul(activation_type(), x, dw, dy);
  check_gradient("matmul", activation_type(), dw, dw);
  const Rows slopes(dy), in(x), out(dw);
  const int64_t n = in.count;
  Tiles(out.count, out.width)
      .for_each(threads_, out.count, out.width, [&](int64_t row, int64_t column, int64_t n_rows, int64_t n_columns) {
        multiply_first_transposed_and_add(loops_, scratch_, {.rows = n_rows, .columns = n_columns, .depth = n},
                                          {slopes.data + row, slopes.stride}, {in.data + column, in.stride},
                                          out[row] + column, out.stride);
      });
}

}  // namespace orrery
