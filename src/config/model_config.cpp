#include "config/model_config.h"

#include <cmath>

#include "base/error.h"

namespace orrery {
namespace {

// Far above every model there is, and low enough that no product of three of them overflows 64 bits.
constexpr int kMaxLayers = 1 << 14;
constexpr int kMaxWidth = 1 << 20;
constexpr int kMaxVocabulary = 1 << 24;
constexpr int kMaxContext = kUnboundedContext;

struct Checker {
  const std::string& where;

  [[noreturn]] void fail(const char* what, const std::string& expected, const std::string& found) const {
    throw Error({.what = what, .where = where, .expected = expected, .found = found});
  }

  void size(const char* what, int value, int most) const {
    if (value >= 1 && value <= most) return;
    fail(what, "1 to " + std::to_string(most), std::to_string(value));
  }

  void positive(const char* what, double value) const {
    if (std::isfinite(value) && value > 0) return;
    fail(what, "a positive number", std::to_string(value));
  }
};

void check_yarn(const ModelConfig& config, const Checker& checker) {
  const Yarn& yarn = config.yarn;
  for (const double value : {yarn.factor, yarn.beta_fast, yarn.beta_slow, yarn.magnitude}) {
    checker.positive("YaRN's scaling of the rotary positions makes no sense", value);
  }
  if (yarn.factor == 1) return;
  checker.size("the original context of YaRN makes no sense", yarn.original_context, kMaxContext);
  // Only then are larger queries and keys the same as larger scores.
  if (config.rope_dims != config.head_dim) {
    checker.fail("YaRN where only a part of each head turns is not supported", std::to_string(config.head_dim),
                 std::to_string(config.rope_dims));
  }
}

void check_rope(const ModelConfig& config, const Checker& checker) {
  if (config.rope_dims < 2 || config.rope_dims > config.head_dim || config.rope_dims % 2 != 0) {
    checker.fail("the number of rotated elements of a head makes no sense",
                 "an even number from 2 to the head size " + std::to_string(config.head_dim),
                 std::to_string(config.rope_dims));
  }
  checker.positive("the base of the rotary positions makes no sense", config.rope_base);
  checker.positive("the scale of the rotary positions makes no sense", config.rope_scale);
  check_yarn(config, checker);
  if (config.local_rope_base != 0)
    checker.positive("the base of the windowed layers' rotary positions makes no sense", config.local_rope_base);
}

void check_recurrent(const ModelConfig& config, const Checker& checker) {
  checker.size("the number of layers makes no sense", config.n_layers, kMaxLayers);
  checker.size("the width of the embedding makes no sense", config.d_model, kMaxWidth);
  checker.size("the width of the hidden state makes no sense", config.d_hidden, kMaxWidth);
  checker.size("the size of the vocabulary makes no sense", config.vocab_size, kMaxVocabulary);
  checker.size("the context length makes no sense", config.context_length, kMaxContext);
  if (config.tied_head && config.d_model != config.d_hidden) {
    checker.fail("the embedding cannot be the head of a hidden state of another width", std::to_string(config.d_model),
                 std::to_string(config.d_hidden));
  }
}

}  // namespace

const char* name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::rnn: return "rnn";
    case Architecture::lstm: return "lstm";
    case Architecture::gru: return "gru";
    case Architecture::gru_reset_before: return "gru-reset-before";
    case Architecture::transformer: break;
  }
  return "transformer";
}

int gates_of(Architecture architecture) {
  if (architecture == Architecture::lstm) return 4;
  return architecture == Architecture::rnn ? 1 : 3;
}

void check(const ModelConfig& config, const std::string& where) {
  const Checker checker{where};
  if (config.is_recurrent()) return check_recurrent(config, checker);
  checker.size("the number of layers makes no sense", config.n_layers, kMaxLayers);
  checker.size("the width of the model makes no sense", config.d_model, kMaxWidth);
  checker.size("the number of heads makes no sense", config.n_heads, kMaxWidth);
  checker.size("the number of key-value heads makes no sense", config.n_kv_heads, config.n_heads);
  checker.size("the head size makes no sense", config.head_dim, kMaxWidth / config.n_heads);
  checker.size("the width of the feed-forward layer makes no sense", config.d_ff, kMaxWidth);
  checker.size("the size of the vocabulary makes no sense", config.vocab_size, kMaxVocabulary);
  checker.size("the context length makes no sense", config.context_length, kMaxContext);
  if (config.n_heads % config.n_kv_heads != 0) {
    checker.fail("the heads cannot be shared out among the key-value heads",
                 "a multiple of " + std::to_string(config.n_kv_heads) + " heads", std::to_string(config.n_heads));
  }
  checker.positive("the epsilon of the norms makes no sense", config.norm_epsilon);
  checker.positive("the scale of the embedding makes no sense", config.embedding_scale);
  if (config.query_size != 0) checker.positive("the scale of the attention scores makes no sense", config.query_size);
  if (config.window != 0) checker.size("the window of attention makes no sense", config.window, kMaxContext);
  if (config.global_every != 0)
    checker.size("the period of the windowed layers makes no sense", config.global_every, kMaxLayers);
  if (config.positions == Positions::rope) check_rope(config, checker);
}

}  // namespace orrery
