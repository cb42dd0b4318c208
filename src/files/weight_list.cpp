#include "files/weight_list.h"

namespace orrery {
namespace {

void add_norm(const ModelConfig& config, const std::string& name, int64_t size, std::vector<NamedShape>& weights) {
  weights.push_back({name + ".weight", {size}});
  if (config.norm == Norm::layer) weights.push_back({name + ".bias", {size}});
}

void add_linear(const std::string& name, int64_t out, int64_t in, bool has_bias, std::vector<NamedShape>& weights) {
  weights.push_back({name + ".weight", {out, in}});
  if (has_bias) weights.push_back({name + ".bias", {out}});
}

void add_recurrent_layer(const ModelConfig& config, const std::string& prefix, int64_t d_in,
                         std::vector<NamedShape>& weights) {
  const int64_t n_units = int64_t{gates_of(config.architecture)} * config.d_hidden;
  add_linear(prefix + "cell_ih", n_units, d_in, true, weights);
  add_linear(prefix + "cell_hh", n_units, config.d_hidden, true, weights);
}

std::vector<NamedShape> recurrent_weight_shapes(const ModelConfig& config) {
  std::vector<NamedShape> weights;
  weights.push_back({"token_embd.weight", {config.vocab_size, config.d_model}});
  for (int layer = 0; layer < config.n_layers; ++layer) {
    add_recurrent_layer(config, block_prefix(layer), recurrent_input(config, layer), weights);
  }
  if (!config.tied_head) weights.push_back({"output.weight", {config.vocab_size, config.d_hidden}});
  if (config.head_bias) weights.push_back({"output.bias", {config.vocab_size}});
  return weights;
}

}  // namespace

int recurrent_input(const ModelConfig& config, int layer) { return layer == 0 ? config.d_model : config.d_hidden; }

std::string block_prefix(int layer) { return "blk." + std::to_string(layer) + "."; }

std::vector<NamedShape> block_weight_shapes(const ModelConfig& config) {
  std::vector<NamedShape> weights;
  if (config.is_recurrent()) {
    add_recurrent_layer(config, "", config.d_hidden, weights);
    return weights;
  }
  add_norm(config, "attn_norm", config.d_model, weights);
  add_linear("attn_q", config.q_dim(), config.d_model, config.attention_bias, weights);
  add_linear("attn_k", config.kv_dim(), config.d_model, config.attention_bias, weights);
  add_linear("attn_v", config.kv_dim(), config.d_model, config.attention_bias, weights);
  if (config.qk_norm) {
    add_norm(config, "attn_q_norm", config.head_dim, weights);
    add_norm(config, "attn_k_norm", config.head_dim, weights);
  }
  add_linear("attn_output", config.d_model, config.q_dim(), config.output_bias, weights);
  if (config.post_norms) add_norm(config, "post_attention_norm", config.d_model, weights);
  add_norm(config, "ffn_norm", config.d_model, weights);
  if (config.gated_ffn) add_linear("ffn_gate", config.d_ff, config.d_model, config.ffn_bias, weights);
  add_linear("ffn_up", config.d_ff, config.d_model, config.ffn_bias, weights);
  add_linear("ffn_down", config.d_model, config.d_ff, config.ffn_bias, weights);
  if (config.post_norms) add_norm(config, "post_ffw_norm", config.d_model, weights);
  return weights;
}

std::vector<NamedShape> weight_shapes(const ModelConfig& config) {
  if (config.is_recurrent()) return recurrent_weight_shapes(config);
  std::vector<NamedShape> weights;
  weights.push_back({"token_embd.weight", {config.vocab_size, config.d_model}});
  if (config.positions == Positions::learned) {
    weights.push_back({"position_embd.weight", {config.context_length, config.d_model}});
  }
  const std::vector<NamedShape> block = block_weight_shapes(config);
  for (int layer = 0; layer < config.n_layers; ++layer) {
    for (const NamedShape& weight : block) weights.push_back({block_prefix(layer) + weight.name, weight.shape});
  }
  add_norm(config, "output_norm", config.d_model, weights);
  if (!config.tied_head) weights.push_back({"output.weight", {config.vocab_size, config.d_model}});
  return weights;
}

}  // namespace orrery
