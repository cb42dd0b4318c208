// What the recipe in transformer.cpp is made of: setting up, and the small steps that occur in several places.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/transformer.h"

namespace orrery {
namespace {

// Pair i turns by base^(-2i / dims) radians per position (Su et al., 2021).
std::vector<double> plain_frequencies(const ModelConfig& c, double base) {
  std::vector<double> frequencies(base > 0 ? static_cast<size_t>(c.rope_dims / 2) : 0);
  for (size_t i = 0; i < frequencies.size(); ++i) frequencies[i] = std::pow(base, -2.0 * double(i) / c.rope_dims);
  return frequencies;
}

// The same, stretched as the file says.
std::vector<double> rope_frequencies(const Checkpoint& checkpoint) {
  const ModelConfig& c = checkpoint.config;
  std::vector<double> frequencies = plain_frequencies(c, c.positions == Positions::rope ? c.rope_base : 0);
  if (!checkpoint.rope_factors.empty() && checkpoint.rope_factors.size() != frequencies.size()) {
    throw Error({.what = "the RoPE factors do not fit the heads",
                 .where = checkpoint.path,
                 .expected = std::to_string(frequencies.size()) + " factors",
                 .found = std::to_string(checkpoint.rope_factors.size())});
  }
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] /= c.rope_scale * (checkpoint.rope_factors.empty() ? 1 : checkpoint.rope_factors[i]);
  }
  return frequencies;
}

int checked_context(const Checkpoint& checkpoint, int wanted) {
  const int known = checkpoint.config.context_length;
  if (wanted < 0 || wanted > known) {
    throw Error({.what = "the model does not know a context of that length",
                 .where = checkpoint.path,
                 .expected = "at most " + std::to_string(known) + " positions",
                 .found = std::to_string(wanted)});
  }
  return wanted == 0 ? known : wanted;
}

}  // namespace

Transformer::Transformer(std::shared_ptr<const Checkpoint> checkpoint, const TransformerOptions& options)
    : checkpoint_(std::move(checkpoint)),
      weights_(transformer_weights(*checkpoint_)),
      rope_frequencies_(rope_frequencies(*checkpoint_)),
      local_frequencies_(plain_frequencies(config(), config().local_rope_base)),
      context_length_(checked_context(*checkpoint_, options.context_length)),
      pool_(std::make_shared<KvPool>(
          KvLayout{config().n_layers, config().kv_dim(), options.key_type, options.value_type})) {}

std::unique_ptr<SequenceState> Transformer::new_sequence() { return std::make_unique<KvCache>(pool_); }

Pass Transformer::begin(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                        std::span<Observer* const> observers) {
  Pass pass{.rows = rows, .kernels = kernels, .arena = arena, .observers = observers};
  pass.sequences = find_sequences(rows, config().vocab_size, context_length_);
  for (size_t i = 0; i < rows.size(); ++i) {
    pass.tokens.push_back(rows[i].token);
    pass.positions.push_back(rows[i].position);
    if (rows[i].wants_logits) pass.logit_rows.push_back(static_cast<int>(i));
  }
  for (Sequence& sequence : pass.sequences) {
    if (sequence.state == nullptr) continue;
    sequence.cache = dynamic_cast<KvCache*>(sequence.state);
    if (sequence.cache == nullptr) throw Error({.what = "this state belongs to another kind of model"});
    sequence.cache->reserve(sequence.n_keys());
  }
  if (!rope_frequencies_.empty()) pass.angles = angles(pass, rope_frequencies_);
  pass.local_angles = local_frequencies_.empty() ? pass.angles : angles(pass, local_frequencies_);
  return pass;
}

RopeAngles Transformer::angles(Pass& pass, std::span<const double> frequencies) const {
  const auto n_pairs = static_cast<int64_t>(frequencies.size());
  RopeAngles angles = {pass.make("rope.cosine", n_pairs), pass.make("rope.sine", n_pairs)};
  pass.kernels.rope_angles(pass.positions, frequencies, angles.cosine, angles.sine);  // [n, pairs]
  return angles;
}

Tensor Transformer::norm(Pass& pass, const char* name, const NormWeights& weights, const Tensor& x) const {
  Tensor normed = pass.make(name, x.shape[1]);
  if (config().norm == Norm::rms) {
    pass.kernels.rms_norm(x, weights.gain, config().norm_epsilon, normed);  // [n, d]
  } else {
    pass.kernels.layer_norm(x, weights.gain, weights.bias, config().norm_epsilon, normed);  // [n, d]
  }
  pass.announce(normed);
  return normed;
}

// Each head is normed by itself.
Tensor Transformer::head_norm(Pass& pass, const char* name, const NormWeights& weights, const Tensor& x) const {
  Tensor normed = pass.make(name, x.shape[1]);
  const int64_t n_heads_of_all = n_elements(x) / config().head_dim;
  Tensor heads = reshape(normed, {n_heads_of_all, config().head_dim});
  pass.kernels.rms_norm(reshape(x, {n_heads_of_all, config().head_dim}), weights.gain, config().norm_epsilon,
                        heads);  // [n * heads, head_dim]
  pass.announce(normed);
  return normed;
}

Tensor Transformer::rope(Pass& pass, const char* name, const Tensor& x) const {
  Tensor turned = pass.make(name, x.shape[1]);
  const RopeAngles& by = config().is_windowed(pass.layer) ? pass.local_angles : pass.angles;
  pass.kernels.rope(x, by.cosine, by.sine, config().rope_layout, config().head_dim, turned);  // [n, heads * head_dim]
  pass.announce(turned);
  return turned;
}

Tensor Transformer::linear(Pass& pass, const char* name, const LinearWeights& weights, const Tensor& x) const {
  const int64_t n_out = weights.weight.shape[0];
  const bool has_bias = is_present(weights.bias);
  Tensor y = pass.make(name, n_out);
  Tensor product = has_bias ? pass.make("product", n_out) : y;
  pass.kernels.matmul(x, weights.weight, product);           // [n, out]
  if (has_bias) pass.kernels.add(product, weights.bias, y);  // [n, out]
  pass.announce(y);
  return y;
}

// Attention in three steps, because somebody wants to see the scores or the weights of this layer.
void Transformer::attend_visibly(Pass& pass, const AttentionShape& shape, size_t sequence, const AttentionGroup& group,
                                 const Tensor& q, Tensor& mix) const {
  const Arena::Scope scope(pass.arena);
  const Sequence& which = pass.sequences[sequence];
  const auto rows = pass.rows.subspan(static_cast<size_t>(which.first_row), static_cast<size_t>(which.n_rows));
  Tensor scores = pass.make("attn.scores", {shape.n_heads, which.n_rows, which.n_keys()});
  pass.kernels.attention_scores(shape, group, q, scores);  // [n_heads, n_rows, n_keys]
  pass.announce(scores, rows);
  Tensor weights = pass.make("attn.weights", {shape.n_heads, which.n_rows, which.n_keys()});
  pass.kernels.softmax(scores, weights);  // [n_heads, n_rows, n_keys]
  pass.announce(weights, rows);
  pass.kernels.attention_mix(shape, group, weights, mix);  // rows of [n, n_heads * head_dim]
}

}  // namespace orrery
