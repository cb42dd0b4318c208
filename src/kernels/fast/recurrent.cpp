#include <array>

#include "kernels/fast/fast_kernels.h"
#include "kernels/fast/recurrent_steps.h"
#include "kernels/recurrent_checks.h"

namespace orrery {
namespace {

// Packing the matrix costs as much as some steps; and with few sequences dot products are as fast.
constexpr int64_t kFewestPackedSteps = 6, kFewestPackedSequences = 4;

float* row_of(const Tensor& matrix, int64_t row) { return values<float>(matrix) + row * matrix.stride[0]; }

std::vector<float> floats_of(const Loops& loops, const Tensor& vector) {
  std::vector<float> result(static_cast<size_t>(vector.shape[0]));
  widen(loops, {vector.dtype, vector.data, 0, 1, vector.shape[0]}, result.data());
  return result;
}

// One layer on its way through time.
class Layer {
 public:
  Layer(const Threads& threads, const Loops& loops, const RecurrentLoops& recurrent, ScratchPool& scratch,
        const RecurrentInput& in, int64_t n_gates)
      : sequences(in.sequences),
        d_hidden(d_hidden_of(in)),
        bias(floats_of(loops, in.weights.input_bias)),
        hidden_bias(floats_of(loops, in.weights.hidden_bias)),
        threads_(threads),
        scratch_(scratch),
        stride_(line_stride(d_hidden)),
        zeros_(static_cast<size_t>(d_hidden)),
        before_(static_cast<size_t>(sequences.count() * stride_)),
        after_(before_.size()) {
    const bool is_packed = (sequences.n_steps() >= kFewestPackedSteps && sequences.count() >= kFewestPackedSequences) ||
                           !has_dots(in.weights.hidden.dtype);
    for (int64_t gate = 0; gate < n_gates; ++gate) {
      const StoredRows rows = rows_of(in.weights.hidden, gate * d_hidden, d_hidden, 0, d_hidden);
      matrices_.emplace_back(loops, recurrent);
      if (is_packed) matrices_.back().pack_rows(threads, rows);
      if (!is_packed) matrices_.back().use_rows(rows);
    }
    for (int64_t i = 0; i < sequences.count(); ++i) {
      std::copy_n(start_line(in.start.hidden, i), d_hidden, before_.data() + i * stride_);
    }
  }

  // For all steps: step(t), which calls for_each_cell and writes the hidden states with set_hidden.
  template <class Step>
  void walk(const Step& step) {
    for (int64_t t = 0; t < sequences.n_steps(); ++t) {
      step(t);
      before_.swap(after_);
    }
  }

  // cell(i, row, first_unit, n_units, products) for each sequence that is still going.
  template <class Cell>
  void for_each_cell(int64_t t, const std::vector<float>& states, int64_t first_gate, int64_t n_gates,
                     const Cell& cell) const {
    const int64_t n = sequences.going(t);
    const std::span matrices = std::span(matrices_).subspan(size_t(first_gate), size_t(n_gates));
    for_each_block(threads_, scratch_, matrices, {states.data(), stride_}, n, n, d_hidden,
                   [&](int64_t i, int64_t first, int64_t n_units, const float* products) {
                     cell(i, sequences.row(i, t), first, n_units, products);
                   });
  }

  // The hidden states that the step finds, a line for each sequence.
  const std::vector<float>& before() const { return before_; }
  float* line(std::vector<float>& lines, int64_t i) const { return lines.data() + i * stride_; }
  const float* line(const std::vector<float>& lines, int64_t i) const { return lines.data() + i * stride_; }
  void set_hidden(int64_t i, int64_t first, int64_t n_units, const float* hidden) {
    std::copy_n(hidden, n_units, line(after_, i) + first);
  }
  // Of another state, which is not multiplied by a matrix: that of the row before, or what the sequence brought along.
  const float* before(int64_t i, int64_t t, const Tensor& states, const Tensor& start) const {
    return t > 0 ? row_of(states, sequences.row(i, t) - 1) : start_line(start, i);
  }

  const SequencesByLength sequences;
  const int64_t d_hidden;
  std::vector<float> bias, hidden_bias;

 private:
  const float* start_line(const Tensor& start, int64_t i) const {
    return start.data == nullptr ? zeros_.data() : row_of(start, sequences.line(i));
  }

  const Threads& threads_;
  ScratchPool& scratch_;
  const int64_t stride_;
  std::vector<float> zeros_;
  std::vector<float> before_, after_;
  std::vector<StepMatrix> matrices_;  // one for each gate
};

// Both biases of the first gates in one.
void merge_biases(Layer& layer, int64_t n_gates) {
  for (int64_t i = 0; i < n_gates * layer.d_hidden; ++i) layer.bias[size_t(i)] += layer.hidden_bias[size_t(i)];
}

}  // namespace

// The products of all rows with x, which need not wait for each other: into the tensors of the gates.
void FastKernels::multiply_inputs(const RecurrentInput& in, std::initializer_list<Tensor*> gates) {
  const int64_t d_hidden = d_hidden_of(in);
  int64_t first = 0;
  for (Tensor* gate : gates) {
    matmul(in.x, slice_rows(in.weights.input, first, d_hidden), *gate);  // [n, d_hidden]
    first += d_hidden;
  }
}

void FastKernels::rnn(const RecurrentInput& in, RnnOutput& y) {
  check_recurrent("rnn", activation_type(), in, 1, {&y.hidden});
  multiply_inputs(in, {&y.hidden});
  Layer layer(threads_, loops_, recurrent_loops_, scratch_, in, 1);
  merge_biases(layer, 1);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, layer.before(), 0, 1,
                        [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
                          float* hidden = row_of(y.hidden, row) + first;
                          recurrent_loops_.rnn({n, products, layer.bias.data() + first, hidden});
                          layer.set_hidden(i, first, n, hidden);
                        });
  });
}

void FastKernels::lstm(const RecurrentInput& in, LstmOutput& y) {
  check_recurrent("lstm", activation_type(), in, kLstmGates,
                  {&y.input, &y.forget, &y.candidate, &y.output, &y.cell, &y.hidden});
  multiply_inputs(in, {&y.input, &y.forget, &y.candidate, &y.output});
  Layer layer(threads_, loops_, recurrent_loops_, scratch_, in, kLstmGates);
  merge_biases(layer, kLstmGates);
  layer.walk([&](int64_t t) {
    layer.for_each_cell(t, layer.before(), 0, kLstmGates,
                        [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
                          const auto at = [&](const Tensor& tensor) { return row_of(tensor, row) + first; };
                          recurrent_loops_.lstm({.n = n,
                                                 .gates = {at(y.input), at(y.forget), at(y.candidate), at(y.output)},
                                                 .products = products,
                                                 .products_stride = kBlockUnits,
                                                 .bias = layer.bias.data() + first,
                                                 .bias_stride = layer.d_hidden,
                                                 .cell_before = layer.before(i, t, y.cell, in.start.cell) + first,
                                                 .cell = at(y.cell),
                                                 .hidden = at(y.hidden)});
                          layer.set_hidden(i, first, n, at(y.hidden));
                        });
  });
}

void FastKernels::gru(const RecurrentInput& in, GruReset reset, GruOutput& y) {
  check_recurrent("gru", activation_type(), in, kGruGates,
                  {&y.reset, &y.update, &y.recurrent, &y.candidate, &y.hidden});
  multiply_inputs(in, {&y.reset, &y.update, &y.candidate});
  Layer layer(threads_, loops_, recurrent_loops_, scratch_, in, kGruGates);
  merge_biases(layer, kGruGates - 1);
  std::vector<float> kept(layer.before().size());
  const auto step_of = [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
    const auto at = [&](const Tensor& tensor) { return row_of(tensor, row) + first; };
    return RecurrentLoops::GruStep{
        .n = n,
        .reset = at(y.reset),
        .update = at(y.update),
        .candidate = at(y.candidate),
        .recurrent = at(y.recurrent),
        .products = products,
        .products_stride = kBlockUnits,
        .bias = layer.bias.data() + first,
        .bias_stride = layer.d_hidden,
        .recurrent_bias = layer.hidden_bias.data() + (kGruGates - 1) * layer.d_hidden + first,
        .before = layer.line(layer.before(), i) + first,
        .kept = layer.line(kept, i) + first,
        .hidden = at(y.hidden)};
  };
  const auto gates = [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
    recurrent_loops_.gru_gates(step_of(i, row, first, n, products));
  };
  const auto candidate = [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
    RecurrentLoops::GruStep step = step_of(i, row, first, n, products);
    step.bias += (kGruGates - 1) * layer.d_hidden;
    recurrent_loops_.gru_candidate(step);
    layer.set_hidden(i, first, n, step.hidden);
  };
  const auto all = [&](int64_t i, int64_t row, int64_t first, int64_t n, const float* products) {
    const RecurrentLoops::GruStep step = step_of(i, row, first, n, products);
    recurrent_loops_.gru(step);
    layer.set_hidden(i, first, n, step.hidden);
  };
  layer.walk([&](int64_t t) {
    if (reset == GruReset::after_product) {
      layer.for_each_cell(t, layer.before(), 0, kGruGates, all);
    } else {  // the candidate's product needs the reset gates of all units
      layer.for_each_cell(t, layer.before(), 0, kGruGates - 1, gates);
      layer.for_each_cell(t, kept, kGruGates - 1, 1, candidate);
    }
  });
}

}  // namespace orrery
