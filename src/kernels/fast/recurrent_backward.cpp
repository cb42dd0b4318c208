#include "kernels/fast/backward.h"
#include "kernels/fast/recurrent_steps.h"
#include "kernels/recurrent_checks.h"

namespace orrery {
namespace {

float* row_of(const Tensor& matrix, int64_t row) { return values<float>(matrix) + row * matrix.stride[0]; }

// Columns of a matrix: a view.
Tensor columns_of(const Tensor& matrix, int64_t first, int64_t count) {
  Tensor part = matrix;
  part.shape[1] = count;
  part.data += bytes_of(DType::F32, first);
  return part;
}

// Tensors [n, width] one after the other in memory that is kept from call to call.
class WorkingMemory {
 public:
  WorkingMemory(std::vector<float>& memory, int64_t n, int64_t all_widths) : memory_(memory), n_(n) {
    const auto size = static_cast<size_t>(n * all_widths);
    if (memory_.size() < size) memory_.resize(size);
  }
  Tensor take(const char* name, int64_t width) {
    const Tensor tensor =
        make_tensor(name, DType::F32, {n_, width}, reinterpret_cast<std::byte*>(memory_.data() + used_));
    used_ += n_ * width;
    return tensor;
  }

 private:
  std::vector<float>& memory_;
  int64_t n_, used_ = 0;
};

// One layer on its way back through time. Slopes of the sums of the gates are kept twice: all of them by rows, for the
// gradients of the weights, and those of one step side by side, for the product that leads to the step before.
class LayerBack {
 public:
  // `n_slopes` gates lead back to the hidden state through `matrix`, which is packed.
  LayerBack(const Threads& threads, ScratchPool& scratch, const RecurrentInput& in, int64_t n_slopes,
            const StepMatrix& matrix)
      : sequences(in.sequences),
        d_hidden(d_hidden_of(in)),
        state_stride(line_stride(d_hidden)),
        direct(lines(state_stride)),
        threads_(threads),
        scratch_(scratch),
        matrix_(matrix),
        slope_stride_(line_stride(n_slopes * d_hidden)),
        next_(lines(slope_stride_)),
        now_(next_.size()) {}

  // For all steps, the last first: step(t), which calls for_each_cell and tells all slopes with set_slopes.
  template <class Step>
  void walk(const Step& step) {
    for (int64_t t = sequences.n_steps(); t-- > 0;) {
      step(t);
      next_.swap(now_);
    }
  }

  // cell(i, row, first_unit, n_units, carried) for each sequence that is going at step t.
  template <class Cell>
  void for_each_cell(int64_t t, const Cell& cell) const {
    for_each_block(threads_, scratch_, {&matrix_, 1}, {next_.data(), slope_stride_}, sequences.going(t + 1),
                   sequences.going(t), d_hidden, [&](int64_t i, int64_t first, int64_t n, const float* carried) {
                     cell(i, sequences.row(i, t), first, n, carried);
                   });
  }
  void set_slopes(int64_t i, int64_t gate, int64_t first, int64_t n, const float* slopes) {
    std::copy_n(slopes, n, now_.data() + i * slope_stride_ + gate * d_hidden + first);
  }

  // After the walk: what reaches the hidden state that the sequences brought along.
  void give_start(const Tensor& dstart) const {
    if (dstart.data == nullptr) return;
    const auto give = [&](int64_t i, int64_t first, int64_t n, const float* carried) {
      const float* past = direct.data() + i * state_stride + first;
      float* to = row_of(dstart, sequences.line(i)) + first;
      for (int64_t j = 0; j < n; ++j) to[j] += carried[j] + past[j];
    };
    for_each_block(threads_, scratch_, {&matrix_, 1}, {next_.data(), slope_stride_}, sequences.count(),
                   sequences.count(), d_hidden, give);
  }

  // before[n, d_hidden]: the states that the rows found.
  void fill_before(const Tensor& states, const Tensor& start, const Tensor& before) const {
    constexpr int64_t kGrain = 4;
    threads_.parallel_for(sequences.count(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t t = 0; t < sequences.n_steps() && i < sequences.going(t); ++t) {
          const float* from = state_before(i, t, states, start);
          float* to = row_of(before, sequences.row(i, t));
          if (from == nullptr) std::fill_n(to, d_hidden, 0.0f);
          if (from != nullptr) std::copy_n(from, d_hidden, to);
        }
      }
    });
  }
  // nullptr: zeros.
  const float* state_before(int64_t i, int64_t t, const Tensor& states, const Tensor& start) const {
    if (t > 0) return row_of(states, sequences.row(i, t) - 1);
    return start.data == nullptr ? nullptr : row_of(start, sequences.line(i));
  }

  std::vector<float> lines(int64_t stride) const { return std::vector<float>(size_t(sequences.count() * stride)); }

  const SequencesByLength sequences;
  const int64_t d_hidden;
  const int64_t state_stride;
  std::vector<float> direct;  // a line for each sequence: what comes from the step after past the matrix

 private:
  const Threads& threads_;
  ScratchPool& scratch_;
  const StepMatrix& matrix_;
  const int64_t slope_stride_;
  std::vector<float> next_, now_;  // slopes of the step after, and of this one
};

}  // namespace

// slopes[n, k] are those of rows [first, first + k) of both matrices, or of one of them.
void FastBackward::give_input(const RecurrentInput& in, const Tensor& slopes, int64_t first, RecurrentGradients& d) {
  const int64_t count = slopes.shape[1];
  Tensor weight = slice_rows(d.weights.input, first, count), bias = slice_rows(d.weights.input_bias, first, count);
  matmul_input(slopes, slice_rows(in.weights.input, first, count), d.x);  // [n, d_in]
  matmul_weight(slopes, in.x, weight);                                    // [count, d_in]
  add(slopes, bias);                                                      // [count]
}

void FastBackward::give_hidden(const Tensor& slopes, const Tensor& before, int64_t first, RecurrentGradients& d) {
  const int64_t count = slopes.shape[1];
  Tensor weight = slice_rows(d.weights.hidden, first, count), bias = slice_rows(d.weights.hidden_bias, first, count);
  matmul_weight(slopes, before, weight);  // [count, d_hidden]
  add(slopes, bias);                      // [count]
}

void FastBackward::rnn(const RecurrentInput& in, const RnnOutput& y, const Tensor& dhidden, RecurrentGradients& d) {
  check_recurrent("rnn", activation_type(), in, 1, {&y.hidden, &dhidden}, true);
  check_recurrent_gradients("rnn", activation_type(), in, d);
  StepMatrix matrix(loops_, recurrent_loops_);
  matrix.pack(threads_, in.weights.hidden);
  LayerBack layer(threads_, scratch_, in, 1, matrix);
  WorkingMemory memory(recurrent_memory_, in.x.shape[0], 2 * layer.d_hidden);
  const Tensor slopes = memory.take("slopes", layer.d_hidden), before = memory.take("before", layer.d_hidden);
  layer.fill_before(y.hidden, in.start.hidden, before);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* carried) {
      const auto at = [&](const Tensor& tensor) { return row_of(tensor, row) + first; };
      recurrent_loops_.rnn_back({n, at(y.hidden), at(dhidden), carried, at(slopes)});
      layer.set_slopes(i, 0, first, n, at(slopes));
    });
  });
  layer.give_start(d.start.hidden);
  give_input(in, slopes, 0, d);
  give_hidden(slopes, before, 0, d);
}

void FastBackward::lstm(const RecurrentInput& in, const LstmOutput& y, const Tensor& dcell, const Tensor& dhidden,
                        RecurrentGradients& d) {
  check_recurrent("lstm", activation_type(), in, kLstmGates,
                  {&y.input, &y.forget, &y.candidate, &y.output, &y.cell, &y.hidden, &dhidden}, true);
  if (dcell.data != nullptr) check_recurrent("lstm", activation_type(), in, kLstmGates, {&dcell});
  check_recurrent_gradients("lstm", activation_type(), in, d);
  StepMatrix matrix(loops_, recurrent_loops_);
  matrix.pack(threads_, in.weights.hidden);
  LayerBack layer(threads_, scratch_, in, kLstmGates, matrix);
  WorkingMemory memory(recurrent_memory_, in.x.shape[0], (kLstmGates + 1) * layer.d_hidden);
  const Tensor slopes = memory.take("slopes", kLstmGates * layer.d_hidden);
  const Tensor before = memory.take("before", layer.d_hidden);
  layer.fill_before(y.hidden, in.start.hidden, before);
  const std::vector<float> zeros(static_cast<size_t>(layer.d_hidden));
  std::vector<float> carried_cell = layer.lines(layer.state_stride);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* carried) {
      const auto at = [&](const Tensor& tensor) { return row_of(tensor, row) + first; };
      const float* cell_before = layer.state_before(i, t, y.cell, in.start.cell);
      recurrent_loops_.lstm_back({.n = n,
                                  .gates = {at(y.input), at(y.forget), at(y.candidate), at(y.output)},
                                  .cell = at(y.cell),
                                  .cell_before = (cell_before == nullptr ? zeros.data() : cell_before) + first,
                                  .dcell = dcell.data == nullptr ? nullptr : at(dcell),
                                  .dhidden = at(dhidden),
                                  .carried = carried,
                                  .carried_cell = carried_cell.data() + i * layer.state_stride + first,
                                  .slopes = at(slopes),
                                  .slopes_stride = layer.d_hidden});
      for (int64_t gate = 0; gate < kLstmGates; ++gate) {
        layer.set_slopes(i, gate, first, n, at(slopes) + gate * layer.d_hidden);
      }
    });
  });
  layer.give_start(d.start.hidden);
  if (d.start.cell.data != nullptr) {
    for (int64_t i = 0; i < layer.sequences.count(); ++i) {
      float* to = row_of(d.start.cell, layer.sequences.line(i));
      loops_.add(to, carried_cell.data() + i * layer.state_stride, layer.d_hidden, to);
    }
  }
  give_input(in, slopes, 0, d);
  give_hidden(slopes, before, 0, d);
}

// What both forms of the GRU read and write at one step; slopes are by rows: reset, update, candidate, recurrent.
struct FastBackward::GruWalk {
  const GruOutput& y;
  const Tensor& dhidden;
  Tensor slopes, before;
  LayerBack& layer;

  RecurrentLoops::GruBack at(int64_t i, int64_t row, int64_t first, int64_t n, const float* carried) const {
    const auto place = [&](const Tensor& tensor) { return row_of(tensor, row) + first; };
    float* to = place(slopes);
    const int64_t d_hidden = layer.d_hidden;
    return {.n = n,
            .reset = place(y.reset),
            .update = place(y.update),
            .recurrent = place(y.recurrent),
            .candidate = place(y.candidate),
            .before = place(before),
            .dhidden = place(dhidden),
            .carried = carried,
            .direct = layer.direct.data() + i * layer.state_stride + first,
            .reset_slopes = to,
            .update_slopes = to + d_hidden,
            .recurrent_slopes = to + 3 * d_hidden,
            .candidate_slopes = to + 2 * d_hidden,
            .dkept = carried,
            .kept = nullptr};
  }
};

void FastBackward::gru(const RecurrentInput& in, GruReset reset, const GruOutput& y, const Tensor& dhidden,
                       RecurrentGradients& d) {
  check_recurrent("gru", activation_type(), in, kGruGates,
                  {&y.reset, &y.update, &y.recurrent, &y.candidate, &y.hidden, &dhidden}, true);
  check_recurrent_gradients("gru", activation_type(), in, d);
  if (reset == GruReset::after_product) {
    gru_after(in, y, dhidden, d);
  } else {
    gru_before(in, y, dhidden, d);
  }
}

void FastBackward::gru_after(const RecurrentInput& in, const GruOutput& y, const Tensor& dhidden,
                             RecurrentGradients& d) {
  StepMatrix matrix(loops_, recurrent_loops_);
  matrix.pack(threads_, in.weights.hidden);
  LayerBack layer(threads_, scratch_, in, kGruGates, matrix);
  const int64_t d_hidden = layer.d_hidden;
  WorkingMemory memory(recurrent_memory_, in.x.shape[0], 5 * d_hidden);
  const GruWalk walk = {y, dhidden, memory.take("slopes", 4 * d_hidden), memory.take("before", d_hidden), layer};
  layer.fill_before(y.hidden, in.start.hidden, walk.before);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* carried) {
      const RecurrentLoops::GruBack step = walk.at(i, row, first, n, carried);
      recurrent_loops_.gru_back(step);
      layer.set_slopes(i, 0, first, n, step.reset_slopes);
      layer.set_slopes(i, 1, first, n, step.update_slopes);
      layer.set_slopes(i, 2, first, n, step.recurrent_slopes);
    });
  });
  layer.give_start(d.start.hidden);
  give_input(in, columns_of(walk.slopes, 0, 3 * d_hidden), 0, d);
  give_hidden(columns_of(walk.slopes, 0, 2 * d_hidden), walk.before, 0, d);
  give_hidden(columns_of(walk.slopes, 3 * d_hidden, d_hidden), walk.before, 2 * d_hidden, d);
}

void FastBackward::gru_before(const RecurrentInput& in, const GruOutput& y, const Tensor& dhidden,
                              RecurrentGradients& d) {
  const int64_t d_hidden = d_hidden_of(in);
  StepMatrix gates(loops_, recurrent_loops_), candidate(loops_, recurrent_loops_);
  gates.pack(threads_, slice_rows(in.weights.hidden, 0, 2 * d_hidden));
  candidate.pack(threads_, slice_rows(in.weights.hidden, 2 * d_hidden, d_hidden));
  LayerBack layer(threads_, scratch_, in, 2, gates);
  WorkingMemory memory(recurrent_memory_, in.x.shape[0], 6 * d_hidden);
  const GruWalk walk = {y, dhidden, memory.take("slopes", 4 * d_hidden), memory.take("before", d_hidden), layer};
  const Tensor kept = memory.take("kept", d_hidden);
  layer.fill_before(y.hidden, in.start.hidden, walk.before);
  std::vector<float> candidate_slopes = layer.lines(layer.state_stride);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* carried) {
      const RecurrentLoops::GruBack step = walk.at(i, row, first, n, carried);
      recurrent_loops_.gru_candidate_back(step);
      layer.set_slopes(i, 1, first, n, step.update_slopes);
      std::copy_n(step.candidate_slopes, n, candidate_slopes.data() + i * layer.state_stride + first);
    });
    // The reset gate's slope needs those of all candidates.
    const int64_t going = layer.sequences.going(t);
    for_each_block(threads_, scratch_, {&candidate, 1}, {candidate_slopes.data(), layer.state_stride}, going, going,
                   d_hidden, [&](int64_t i, int64_t first, int64_t n, const float* dkept) {
                     const int64_t row = layer.sequences.row(i, t);
                     RecurrentLoops::GruBack step = walk.at(i, row, first, n, dkept);
                     step.kept = row_of(kept, row) + first;
                     recurrent_loops_.gru_reset_back(step);
                     layer.set_slopes(i, 0, first, n, step.reset_slopes);
                   });
  });
  layer.give_start(d.start.hidden);
  give_input(in, columns_of(walk.slopes, 0, 3 * d_hidden), 0, d);
  give_hidden(columns_of(walk.slopes, 0, 2 * d_hidden), walk.before, 0, d);
  give_hidden(columns_of(walk.slopes, 2 * d_hidden, d_hidden), kept, 2 * d_hidden, d);
}

}  // namespace orrery
