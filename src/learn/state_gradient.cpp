#include "learn/state_gradient.h"

#include <cmath>
#include <string>
#include <vector>

#include "files/weight_list.h"
#include "tensor/arena.h"

namespace orrery {

RecurrentWeights recurrent_weights(const Parameters& parameters, int layer, Tensor Parameter::*part) {
  const auto named = [&](const char* name) { return parameters.named(block_prefix(layer) + name).*part; };
  return {.input = named("cell_ih.weight"),
          .hidden = named("cell_hh.weight"),
          .input_bias = named("cell_ih.bias"),
          .hidden_bias = named("cell_hh.bias")};
}

// A sequence for each unit of h_T, which read all the same: a row of the matrix dh_T/dh_0 is what comes back from one.
double state_gradient_norm(Learner& learner, const Tensor& x) {
  const ModelConfig& config = learner.config;
  Kernels& forward = *learner.forward;
  BackwardKernels& backward = *learner.backward;
  const int64_t d = config.d_hidden, steps = x.shape[0];
  Arena arena;
  const auto zeros = [&](int64_t rows, int64_t columns) {
    Tensor tensor = arena.make("", forward.activation_type(), {rows, columns});
    backward.clear(tensor);
    return tensor;
  };
  const auto states = [&] { return zeros(d * steps, d); };
  std::vector<RowRange> sequences;
  std::vector<int32_t> rows;
  Tensor copies = zeros(d * steps, x.shape[1]), dhidden = states();
  for (int64_t unit = 0; unit < d; ++unit) {
    sequences.push_back({unit * steps, steps});
    for (int64_t t = 0; t < steps; ++t) rows.push_back(static_cast<int32_t>(t));
    set_element(dhidden, ((unit + 1) * steps - 1) * d + unit, 1);
  }
  forward.embed(x, rows, copies);  // [d * T, d_model]

  const RecurrentInput in{.sequences = sequences,
                          .x = copies,
                          .weights = recurrent_weights(learner.parameters, 0),
                          .start = {zeros(d, d), zeros(d, d)}};
  RecurrentGradients found{.x = zeros(d * steps, x.shape[1]),
                           .weights = recurrent_weights(learner.parameters, 0, &Parameter::gradient),
                           .start = {zeros(d, d), zeros(d, d)}};
  if (config.architecture == Architecture::rnn) {
    RnnOutput y{states()};
    forward.rnn(in, y);
    backward.rnn(in, y, dhidden, found);
  } else if (config.architecture == Architecture::lstm) {
    LstmOutput y{states(), states(), states(), states(), states(), states()};
    forward.lstm(in, y);
    backward.lstm(in, y, {}, dhidden, found);
  } else {
    const bool is_before = config.architecture == Architecture::gru_reset_before;
    const GruReset reset = is_before ? GruReset::before_product : GruReset::after_product;
    GruOutput y{states(), states(), states(), states(), states()};
    forward.gru(in, reset, y);
    backward.gru(in, reset, y, dhidden, found);
  }
  return std::sqrt(backward.sum_of_squares(found.start.hidden) / static_cast<double>(d));
}

}  // namespace orrery
