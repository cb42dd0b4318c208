#include "compare/contestant.h"

#include <utility>
#include <vector>

#include "compare/closest_shape.h"
#include "config/arithmetic.h"

namespace orrery {
namespace {

constexpr int kLayers = 2, kHeads = 4;
constexpr int kContext = 16384;  // rotary positions cost nothing before they are used

ModelConfig transformer_config(int vocab_size, int width, int d_ff) {
  return llama_config({.n_layers = kLayers,
                       .d_model = width,
                       .n_heads = kHeads,
                       .vocab_size = vocab_size,
                       .context_length = kContext,
                       .n_kv_heads = 0,
                       .d_ff = d_ff});
}

// All that may be chosen from of one width. A transformer's feed-forward layer may be twice to four times as wide.
std::vector<ModelConfig> configs_of(Architecture architecture, int vocab_size, int width) {
  std::vector<ModelConfig> configs;
  if (architecture == Architecture::transformer) {
    if (width % (2 * kHeads) != 0) return configs;  // heads of an even size, for rotary positions
    for (int d_ff = 2 * width; d_ff <= 4 * width; d_ff += 8) {
      configs.push_back(transformer_config(vocab_size, width, d_ff));
    }
    return configs;
  }
  return {recurrent_config({.architecture = architecture,
                            .n_layers = kLayers,
                            .d_hidden = width,
                            .vocab_size = vocab_size,
                            .d_embedding = 0,
                            .tied_head = false})};
}

}  // namespace

int64_t Contestant::parameters() const { return parameter_count(config).total(); }

std::string Contestant::description() const {
  const std::string layers = std::to_string(config.n_layers) + " layers of ";
  if (!config.is_recurrent()) {
    return layers + std::to_string(config.d_model) + ", " + std::to_string(config.n_heads) + " heads, feed-forward " +
           std::to_string(config.d_ff);
  }
  return layers + std::to_string(config.d_hidden) + ", " + orrery::description(config, initialization);
}

std::vector<Architecture> all_contestants() {
  return {Architecture::rnn, Architecture::lstm, Architecture::gru, Architecture::transformer};
}

Contestant contestant_of(Architecture architecture, int vocab_size, int64_t parameters) {
  constexpr int kStep = 4, kWidest = 1024;
  Contestant closest = closest_shape(parameters, kStep, kWidest, [&](int width) {
    std::vector<Contestant> all;
    for (ModelConfig& config : configs_of(architecture, vocab_size, width)) {
      all.push_back({.config = std::move(config), .initialization = {}});
    }
    return all;
  });
  closest.initialization.orthogonal = architecture == Architecture::rnn;
  closest.initialization.forget_bias = architecture == Architecture::lstm ? 1 : 0;
  return closest;
}

std::unique_ptr<Learner> make_learner(const Contestant& contestant, const Threads& threads, uint64_t seed, DType type) {
  auto learner = std::make_unique<Learner>(contestant.config, type, threads, seed);
  if (contestant.config.is_recurrent()) {
    initialize_recurrent(learner->parameters, contestant.config, seed, contestant.initialization);
  }
  return learner;
}

}  // namespace orrery
