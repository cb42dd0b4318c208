#include "config/recurrent_arithmetic.h"

namespace orrery {
namespace {

// Operations of a unit besides its matrices, as kernels/recurrent.h has the formulas: three additions for each gate; a
// sigmoid takes 4, a tanh 1; then the state.
int64_t unit_flops(const ModelConfig& c) {
  if (c.architecture == Architecture::lstm) return 12 + 3 * 4 + 1 + 3 + 1 + 1;
  return c.architecture == Architecture::rnn ? 3 + 1 : 9 + 2 * 4 + 1 + 1 + 4;
}

}  // namespace

int recurrent_layer_tensors(Architecture architecture) {
  if (architecture == Architecture::lstm) return 6;
  return architecture == Architecture::rnn ? 1 : 5;
}

ParameterCount recurrent_parameter_count(const ModelConfig& c) {
  const int64_t hidden = c.d_hidden, vocabulary = c.vocab_size, gates = gates_of(c.architecture);
  ParameterCount count;
  count.embedding = vocabulary * c.d_model;
  count.matrices = gates * hidden * (c.d_model + (c.n_layers - 1) * hidden + c.n_layers * hidden);
  count.vectors = c.n_layers * 2 * gates * hidden + (c.head_bias ? vocabulary : 0);
  count.head = c.tied_head ? 0 : vocabulary * hidden;
  return count;
}

FlopCount recurrent_forward_flops(const ModelConfig& c, const RowCounts& counts) {
  FlopCount flops;
  flops.matmul = 2 * counts.rows * recurrent_parameter_count(c).matrices +
                 2 * counts.logit_rows * int64_t{c.d_hidden} * c.vocab_size;
  flops.other = counts.rows * c.n_layers * c.d_hidden * unit_flops(c);
  if (c.head_bias) flops.other += counts.logit_rows * c.vocab_size;
  return flops;
}

uint64_t recurrent_activation_bytes(const ModelConfig& c, int64_t rows, int64_t logit_rows, DType activations) {
  const uint64_t n_layers = static_cast<uint64_t>(c.n_layers), states = arena_bytes(rows * c.d_hidden, activations);
  const uint64_t start = arena_bytes(c.d_hidden, activations) * (c.architecture == Architecture::lstm ? 2 : 1);
  uint64_t bytes = arena_bytes(rows * c.d_model, activations);
  bytes += n_layers * (static_cast<uint64_t>(recurrent_layer_tensors(c.architecture)) * states + start);
  if (logit_rows > 0) bytes += (c.head_bias ? 2 : 1) * arena_bytes(logit_rows * c.vocab_size, activations);
  if (logit_rows > 0 && logit_rows < rows) bytes += arena_bytes(logit_rows * c.d_hidden, activations);
  return bytes;
}

uint64_t recurrent_state_bytes(const ModelConfig& c, DType type) {
  return bytes_of(type, int64_t{c.n_layers} * c.d_hidden * (c.architecture == Architecture::lstm ? 2 : 1));
}

}  // namespace orrery
