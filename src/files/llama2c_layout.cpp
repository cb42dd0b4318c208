#include "files/llama2c_layout.h"

namespace orrery {
namespace {

class Layout {
 public:
  explicit Layout(const ModelConfig& config) : config_(config) {}

  void add(const char* name, int64_t rows, int64_t columns) { weights_.push_back({name, {rows, columns}}); }
  void add_vector(const char* name, int64_t size) { weights_.push_back({name, {size}}); }

  // The same weight of all layers, one behind the other.
  void add_of_all_layers(const char* suffix, std::vector<int64_t> shape) {
    for (int layer = 0; layer < config_.n_layers; ++layer) weights_.push_back({block_prefix(layer) + suffix, shape});
  }
  void add_attention() {
    const int64_t d = config_.d_model;
    add_of_all_layers("attn_q.weight", {config_.q_dim(), d});
    add_of_all_layers("attn_k.weight", {config_.kv_dim(), d});
    add_of_all_layers("attn_v.weight", {config_.kv_dim(), d});
    add_of_all_layers("attn_output.weight", {d, config_.q_dim()});
  }
  void add_feed_forward() {
    const int64_t d = config_.d_model;
    add_of_all_layers("ffn_gate.weight", {config_.d_ff, d});  // w1
    add_of_all_layers("ffn_down.weight", {d, config_.d_ff});  // w2
    add_of_all_layers("ffn_up.weight", {config_.d_ff, d});    // w3
  }
  std::vector<NamedShape> take() { return std::move(weights_); }

 private:
  const ModelConfig& config_;
  std::vector<NamedShape> weights_;
};

}  // namespace

std::vector<NamedShape> llama2c_layout(const ModelConfig& config, int version) {
  const int64_t d = config.d_model;
  Layout layout(config);
  if (version == 0) {
    layout.add("token_embd.weight", config.vocab_size, d);
    layout.add_of_all_layers("attn_norm.weight", {d});
    layout.add_attention();
    layout.add_of_all_layers("ffn_norm.weight", {d});
    layout.add_feed_forward();
    layout.add_vector("output_norm.weight", d);
    layout.add(kLlama2cCosines, config.context_length, config.head_dim / 2);
    layout.add(kLlama2cSines, config.context_length, config.head_dim / 2);
  } else {
    layout.add_of_all_layers("attn_norm.weight", {d});
    layout.add_of_all_layers("ffn_norm.weight", {d});
    layout.add_vector("output_norm.weight", d);
    layout.add("token_embd.weight", config.vocab_size, d);
    layout.add_attention();
    layout.add_feed_forward();
  }
  if (!config.tied_head) layout.add("output.weight", config.vocab_size, d);
  return layout.take();
}

ModelConfig llama2c_config() {
  ModelConfig config;
  config.family = "llama";
  config.norm_epsilon = 1e-5;
  config.rope_base = 10000;
  config.rope_layout = RopeLayout::interleaved;
  return config;
}

}  // namespace orrery
