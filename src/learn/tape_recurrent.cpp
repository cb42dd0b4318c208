// Layers of recurrent networks on the tape: one call each, whatever the number of time steps, with several outputs.
#include <utility>

#include "learn/tape.h"

namespace orrery {

// What a layer reads, with memory of its own for the sequences; the caller's are gone after the call.
struct Tape::RecurrentLayer {
  RecurrentLayer(const Tape& tape, const RecurrentInput& given)
      : sequences(given.sequences.begin(), given.sequences.end()), in(given) {
    in.sequences = sequences;
    for (const Tensor* tensor : {&in.x, &in.weights.input, &in.weights.hidden, &in.weights.input_bias,
                                 &in.weights.hidden_bias, &in.start.hidden, &in.start.cell}) {
      read.push_back(tensor->data == nullptr ? Input{} : tape.find(*tensor));
    }
  }
  RecurrentLayer(const RecurrentLayer&) = delete;  // `in` points into the sequences
  RecurrentLayer& operator=(const RecurrentLayer&) = delete;

  RecurrentGradients gradients(Tape& tape) const {
    const auto of = [&](size_t i) { return read[i].tensor.data == nullptr ? Tensor{} : tape.gradient_of(read[i]); };
    return {.x = of(0),
            .weights = {.input = of(1), .hidden = of(2), .input_bias = of(3), .hidden_bias = of(4)},
            .start = {.hidden = of(5), .cell = of(6)}};
  }

  // The way back also reads what the layer made: `others`, which take the next indices, and then its hidden states.
  std::vector<Input> with_outputs(const Tape& tape, const std::vector<Tensor>& others, const Tensor& hidden) const {
    std::vector<Input> needed = read;
    int index = tape.n_calls();
    for (const Tensor& other : others) needed.push_back({.tensor = other, .call = index++});
    needed.push_back({.tensor = hidden, .call = index});
    return needed;
  }

  std::vector<RowRange> sequences;
  RecurrentInput in;
  std::vector<Input> read;
};

void Tape::rnn(const RecurrentInput& in, RnnOutput& y) {
  const auto layer = std::make_shared<const RecurrentLayer>(*this, in);
  record({.operation = "rnn",
          .y = y.hidden,
          .inputs = layer->read,
          .needed = layer->with_outputs(*this, {}, y.hidden),
          .make = [=, this]() mutable { forward_.rnn(layer->in, y); },
          .back =
              [=, this](const Tensor& dhidden) {
                RecurrentGradients d = layer->gradients(*this);
                backward_.rnn(layer->in, y, dhidden, d);  // [n, d_in], the weights, the start
              }});
}

void Tape::lstm(const RecurrentInput& in, LstmOutput& y) {
  const auto layer = std::make_shared<const RecurrentLayer>(*this, in);
  const std::vector<Tensor> others = {y.input, y.forget, y.candidate, y.output, y.cell};
  const int cell = n_calls() + 4;
  record({.operation = "lstm",
          .y = y.hidden,
          .inputs = layer->read,
          .needed = layer->with_outputs(*this, others, y.hidden),
          .make = [=, this]() mutable { forward_.lstm(layer->in, y); },
          .back =
              [=, this](const Tensor& dhidden) {
                RecurrentGradients d = layer->gradients(*this);
                const Tensor& dcell = calls_[static_cast<size_t>(cell)].dy;  // no data where nobody used the cells
                backward_.lstm(layer->in, y, dcell, dhidden, d);             // [n, d_in], the weights, the start
              }},
         others);
}

void Tape::gru(const RecurrentInput& in, GruReset reset, GruOutput& y) {
  const auto layer = std::make_shared<const RecurrentLayer>(*this, in);
  const std::vector<Tensor> others = {y.reset, y.update, y.recurrent, y.candidate};
  record({.operation = "gru",
          .y = y.hidden,
          .inputs = layer->read,
          .needed = layer->with_outputs(*this, others, y.hidden),
          .make = [=, this]() mutable { forward_.gru(layer->in, reset, y); },
          .back =
              [=, this](const Tensor& dhidden) {
                RecurrentGradients d = layer->gradients(*this);
                backward_.gru(layer->in, reset, y, dhidden, d);  // [n, d_in], the weights, the start
              }},
         others);
}

}  // namespace orrery
