#include "support/models.h"

#include <algorithm>
#include <cmath>

#include "files/random_checkpoint.h"
#include "tensor/arena.h"

namespace orrery::test {

ModelConfig small_config(int variant) {
  ModelConfig c;
  c.family = "llama";
  c.n_layers = 2;
  c.n_heads = 4;
  c.n_kv_heads = variant == 1 ? 1 : variant == 2 ? 4 : 2;
  c.head_dim = variant == 3 ? 16 : 8;
  c.d_model = 32;
  c.d_ff = variant == 4 ? 96 : 64;
  c.vocab_size = 300;
  c.context_length = 1024;
  c.norm_epsilon = 1e-5;
  c.rope_base = 10000;
  c.rope_dims = variant == 2 ? c.head_dim / 2 : c.head_dim;
  c.rope_layout = variant == 4 ? RopeLayout::half_split : RopeLayout::interleaved;
  c.rope_scale = variant == 3 ? 2 : 1;
  c.qk_norm = variant == 4;
  c.tied_head = variant % 2 == 0;
  if (variant == 5) {  // as GPT-2
    c.norm = Norm::layer;
    c.positions = Positions::learned;
    c.n_kv_heads = c.n_heads;
    c.rope_dims = 0;
    c.rope_base = 0;
    c.activation = Activation::gelu_tanh;
    c.gated_ffn = false;
    c.attention_bias = c.output_bias = c.ffn_bias = true;
  }
  if (variant == 6) {  // as Gemma 3
    c.n_layers = 3;
    c.rope_layout = RopeLayout::half_split;
    c.qk_norm = c.post_norms = true;
    c.activation = Activation::gelu_tanh;
    c.embedding_scale = std::sqrt(c.d_model);
    c.query_size = 12;
    c.window = 20;
    c.global_every = 3;
    c.local_rope_base = 500;
  }
  if (variant == 7) c.window = 150;  // as Mistral, longer than a page
  return c;
}

std::shared_ptr<const Checkpoint> random_model(const ModelConfig& config, DType matrices, uint64_t seed) {
  return std::make_shared<const Checkpoint>(random_checkpoint(config, matrices, seed));
}

std::vector<TokenId> random_ids(int count, int vocab_size, uint64_t seed) {
  Random random(seed);
  std::vector<TokenId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>(random.below(static_cast<uint64_t>(vocab_size))));
  return ids;
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> result;
  for (int64_t i = 0; i < n_elements(tensor); ++i) result.push_back(element(tensor, i));
  return result;
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN counts as large
  }
  return std::isnan(largest) ? INFINITY : largest;
}

std::vector<double> cached_logits(LanguageModel& model, Kernels& kernels, std::span<const TokenId> ids,
                                  std::span<const int> split) {
  const auto state = model.new_sequence();
  Arena arena;
  std::vector<double> result;
  for (const int count : split) {
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) {
      const int position = state->length() + i;
      rows.push_back({ids[static_cast<size_t>(position)], position, state.get(), true});
    }
    arena.reset();
    const std::vector<double> part = numbers(model.forward(rows, kernels, arena));
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

std::vector<double> uncached_logits(LanguageModel& model, Kernels& kernels, std::span<const TokenId> ids) {
  std::vector<Row> rows;
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({ids[i], static_cast<int>(i), nullptr, true});
  Arena arena;
  return numbers(model.forward(rows, kernels, arena));
}

}  // namespace orrery::test
