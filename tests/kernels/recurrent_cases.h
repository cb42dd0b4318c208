// Recurrent layers as cases for the tests of the way there and back.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/fast_support.h"
#include "kernels/recurrent.h"
#include "kernels/reference/backward.h"
#include "kernels/reference/reference_kernels.h"

namespace orrery::test {

enum class Cell { rnn, lstm, gru, gru_reset_before };
constexpr Cell kCells[] = {Cell::rnn, Cell::lstm, Cell::gru, Cell::gru_reset_before};

inline const char* name_of(Cell cell) {
  constexpr const char* kNames[] = {"rnn", "lstm", "gru", "gru, reset before"};
  return kNames[static_cast<int>(cell)];
}
inline int gates_of(Cell cell) { return cell == Cell::rnn ? 1 : cell == Cell::lstm ? 4 : 3; }

// A layer's sizes: sequences of these lengths, one after the other.
struct LayerShape {
  Cell cell;
  std::vector<int> lengths;
  int64_t d_in, d_hidden;
  bool has_start = false;

  int64_t n() const {
    int64_t sum = 0;
    for (const int length : lengths) sum += length;
    return sum;
  }
  std::vector<RowRange> sequences() const {
    std::vector<RowRange> ranges;
    int64_t first = 0;
    for (const int length : lengths) {
      ranges.push_back({first, length});
      first += length;
    }
    return ranges;
  }
  // x, both matrices, both biases, and with a start the hidden states and, for the LSTM, the cells.
  std::vector<std::vector<int64_t>> inputs() const {
    const int64_t units = gates_of(cell) * d_hidden, n_sequences = static_cast<int64_t>(lengths.size());
    std::vector<std::vector<int64_t>> shapes = {{n(), d_in}, {units, d_in}, {units, d_hidden}, {units}, {units}};
    if (has_start) shapes.push_back({n_sequences, d_hidden});
    if (has_start && cell == Cell::lstm) shapes.push_back({n_sequences, d_hidden});
    return shapes;
  }
};

inline RecurrentInput layer_input(const std::vector<Tensor>& in, std::span<const RowRange> sequences) {
  return {.sequences = sequences,
          .x = in[0],
          .weights = {.input = in[1], .hidden = in[2], .input_bias = in[3], .hidden_bias = in[4]},
          .start = {.hidden = in.size() > 5 ? in[5] : Tensor{}, .cell = in.size() > 6 ? in[6] : Tensor{}}};
}

// All that a layer makes, by name: the last is the hidden states, of the LSTM the one before the cells.
struct LayerRun {
  std::vector<Numbers> made;

  LayerRun(Kernels& kernels, const LayerShape& shape, const std::vector<Tensor>& in) {
    const std::vector<RowRange> sequences = shape.sequences();
    const RecurrentInput input = layer_input(in, sequences);
    const auto make = [&](const char* name) {
      made.emplace_back(kernels.activation_type(), std::vector<int64_t>{shape.n(), shape.d_hidden}, name);
      return made.back().tensor;
    };
    if (shape.cell == Cell::rnn) {
      RnnOutput y{make("hidden")};
      kernels.rnn(input, y);
    } else if (shape.cell == Cell::lstm) {
      LstmOutput y{make("input"), make("forget"), make("candidate"), make("output"), make("cell"), make("hidden")};
      kernels.lstm(input, y);
    } else {
      GruOutput y{make("reset"), make("update"), make("recurrent"), make("candidate"), make("hidden")};
      kernels.gru(input, shape.cell == Cell::gru ? GruReset::after_product : GruReset::before_product, y);
    }
  }
  const Tensor& operator[](size_t i) const { return made[i].tensor; }
  const Tensor& hidden() const { return made.back().tensor; }
};

// y: the hidden states, and before them the cells.
inline void copy_states(const LayerShape& shape, const LayerRun& run, Tensor& y) {
  const size_t size = n_bytes(run.hidden());
  const size_t n_parts = shape.cell == Cell::lstm ? 2 : 1;
  for (size_t i = 0; i < n_parts; ++i) {
    std::copy_n(run[run.made.size() - n_parts + i].data, size, y.data + i * size);
  }
}

inline void layer_back(BackwardKernels& kernels, const LayerShape& shape, const std::vector<Tensor>& in,
                       const Tensor& dy, std::vector<Tensor>& g) {
  std::unique_ptr<Kernels> plain;
  if (kernels.activation_type() == DType::F64) plain = std::make_unique<ReferenceKernels<double>>(Threads(1));
  if (kernels.activation_type() == DType::F32) plain = std::make_unique<ReferenceKernels<float>>(Threads(1));
  const LayerRun run(*plain, shape, in);
  const std::vector<RowRange> sequences = shape.sequences();
  const RecurrentInput input = layer_input(in, sequences);
  RecurrentGradients d{.x = g[0],
                       .weights = {.input = g[1], .hidden = g[2], .input_bias = g[3], .hidden_bias = g[4]},
                       .start = {.hidden = g.size() > 5 ? g[5] : Tensor{}, .cell = g.size() > 6 ? g[6] : Tensor{}}};
  if (shape.cell == Cell::rnn) {
    kernels.rnn(input, {run[0]}, dy, d);
  } else if (shape.cell == Cell::lstm) {
    kernels.lstm(input, {run[0], run[1], run[2], run[3], run[4], run[5]}, slice_rows(dy, 0, shape.n()),
                 slice_rows(dy, shape.n(), shape.n()), d);
  } else {
    const GruReset reset = shape.cell == Cell::gru ? GruReset::after_product : GruReset::before_product;
    kernels.gru(input, reset, {run[0], run[1], run[2], run[3], run[4]}, dy, d);
  }
}

}  // namespace orrery::test
