// What the fast recurrent layers share, there and back. At each time step the states of all sequences that are still
// going, side by side, are multiplied by one matrix, block of units after block of units, and a cell's inner loop
// follows at once, while the products are in the cache. Threads share out the blocks; they meet at the end of a step.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "kernels/fast/isa/recurrent_loops.h"
#include "kernels/fast/scratch.h"
#include "kernels/fast/stored.h"
#include "kernels/recurrent.h"

namespace orrery {

// The sequences of a call, longest first: those that are still going at a time step are the first ones.
class SequencesByLength {
 public:
  explicit SequencesByLength(std::span<const RowRange> sequences);

  int64_t count() const { return static_cast<int64_t>(lines_.size()); }
  int64_t n_steps() const { return static_cast<int64_t>(going_.size()); }
  int64_t going(int64_t step) const { return step < n_steps() ? going_[static_cast<size_t>(step)] : 0; }
  int64_t line(int64_t i) const { return lines_[static_cast<size_t>(i)]; }  // of the call's sequences
  int64_t row(int64_t i, int64_t step) const { return firsts_[static_cast<size_t>(i)] + step; }

 private:
  std::vector<int64_t> lines_, firsts_, going_;
};

// A matrix that products with few rows are made with again and again: result[n_rows, n_columns].
class StepMatrix {
 public:
  StepMatrix(const Loops& loops, const RecurrentLoops& recurrent) : loops_(loops), recurrent_(recurrent) {}

  // result = a * rows^T, n_columns = rows.n_rows. Not packed: weights are read as they are stored.
  void use_rows(const StoredRows& rows) { rows_ = rows; }
  // The same from a packed copy, which has memory of its own.
  void pack_rows(const Threads& threads, const StoredRows& rows);
  // result = a * w, n_columns = w.shape[1]. F32.
  void pack(const Threads& threads, const Tensor& w);

  // Columns [first, first + n) of the result. `first` is a multiple of kPanelColumns; y has room for whole panels.
  void multiply(FloatRows a, int64_t n_rows, int64_t first, int64_t n, float* y, int64_t y_stride) const;

 private:
  void pack_columns(const Threads& threads, const float* w, int64_t column_stride, int64_t depth_stride,
                    int64_t n_columns);

  const Loops& loops_;
  const RecurrentLoops& recurrent_;
  StoredRows rows_ = {};
  int64_t depth_ = 0;
  std::vector<float> packed_;  // [panels][depth][16]; empty: rows_
};

constexpr int64_t kBlockUnits = 2 * kPanelColumns;  // of one piece of work
constexpr int64_t kBlockRows = 48;                  // of which the products wait for the cells at a time

// Lines of states, each on cache lines of its own, and not all of them at the same place in the cache.
inline int64_t line_stride(int64_t width) { return (width + 15) / 16 * 16 + 16; }

// For every block of units and every row i < n_rows: cell(i, first_unit, n_units, products), where products[g *
// kBlockUnits + j] is that of row i of `states` with column first_unit + j of matrices[g]. Of the rows from n_products
// on they are 0.
template <class Cell>
void for_each_block(const Threads& threads, ScratchPool& scratch, std::span<const StepMatrix> matrices,
                    FloatRows states, int64_t n_products, int64_t n_rows, int64_t n_units, const Cell& cell) {
  const auto n_matrices = static_cast<int64_t>(matrices.size()), stride = n_matrices * kBlockUnits;
  threads.parallel_for((n_units + kBlockUnits - 1) / kBlockUnits, 1, [&](int64_t block, int64_t) {
    const int64_t first = block * kBlockUnits, n = std::min(kBlockUnits, n_units - first);
    const auto memory = scratch.borrow({kBlockRows * stride});
    float* products = memory[0];
    for (int64_t row = 0; row < n_rows; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, n_rows - row);
      const int64_t n_multiplied = std::clamp<int64_t>(n_products - row, 0, count);
      for (int64_t g = 0; g < n_matrices && n_multiplied > 0; ++g) {
        matrices[static_cast<size_t>(g)].multiply({states.data + row * states.stride, states.stride}, n_multiplied,
                                                  first, n, products + g * kBlockUnits, stride);
      }
      std::fill(products + n_multiplied * stride, products + count * stride, 0.0f);
      for (int64_t i = 0; i < count; ++i) cell(row + i, first, n, products + i * stride);
    }
  });
}

}  // namespace orrery
