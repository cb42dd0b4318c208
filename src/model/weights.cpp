#include "model/weights.h"

namespace orrery {
namespace {

// Looks weights up by their names in the checkpoint.
struct Finder {
  const Checkpoint& checkpoint;

  NormWeights norm(const std::string& name, int64_t size) const {
    NormWeights norm;
    norm.gain = checkpoint.weight(name + ".weight", {size});
    if (checkpoint.config.norm == Norm::layer) norm.bias = checkpoint.weight(name + ".bias", {size});
    return norm;
  }

  LinearWeights linear(const std::string& name, int64_t out, int64_t in, bool has_bias) const {
    LinearWeights linear;
    linear.weight = checkpoint.weight(name + ".weight", {out, in});
    if (has_bias) linear.bias = checkpoint.weight(name + ".bias", {out});
    return linear;
  }
};

BlockWeights block_weights(const Finder& find, int layer) {
  const ModelConfig& c = find.checkpoint.config;
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  BlockWeights block;
  block.attn_norm = find.norm(prefix + "attn_norm", c.d_model);
  block.q = find.linear(prefix + "attn_q", c.q_dim(), c.d_model, c.attention_bias);
  block.k = find.linear(prefix + "attn_k", c.kv_dim(), c.d_model, c.attention_bias);
  block.v = find.linear(prefix + "attn_v", c.kv_dim(), c.d_model, c.attention_bias);
  if (c.qk_norm) {
    block.q_norm = find.norm(prefix + "attn_q_norm", c.head_dim);
    block.k_norm = find.norm(prefix + "attn_k_norm", c.head_dim);
  }
  block.attn_out = find.linear(prefix + "attn_output", c.d_model, c.q_dim(), c.output_bias);
  block.ffn_norm = find.norm(prefix + "ffn_norm", c.d_model);
  if (c.gated_ffn) block.gate = find.linear(prefix + "ffn_gate", c.d_ff, c.d_model, c.ffn_bias);
  block.up = find.linear(prefix + "ffn_up", c.d_ff, c.d_model, c.ffn_bias);
  block.down = find.linear(prefix + "ffn_down", c.d_model, c.d_ff, c.ffn_bias);
  if (c.post_norms) {
    block.post_attention_norm = find.norm(prefix + "post_attention_norm", c.d_model);
    block.post_ffw_norm = find.norm(prefix + "post_ffw_norm", c.d_model);
  }
  return block;
}

}  // namespace

TransformerWeights transformer_weights(const Checkpoint& checkpoint) {
  const ModelConfig& c = checkpoint.config;
  const Finder find{checkpoint};
  TransformerWeights weights;
  weights.token_embedding = checkpoint.weight("token_embd.weight", {c.vocab_size, c.d_model});
  if (c.positions == Positions::learned) {
    weights.position_embedding = checkpoint.weight("position_embd.weight", {c.context_length, c.d_model});
  }
  for (int layer = 0; layer < c.n_layers; ++layer) weights.blocks.push_back(block_weights(find, layer));
  weights.final_norm = find.norm("output_norm", c.d_model);
  weights.head = c.tied_head ? weights.token_embedding : checkpoint.weight("output.weight", {c.vocab_size, c.d_model});
  return weights;
}

uint64_t weight_bytes_per_token(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.weights) {
    const bool is_embedding = name == "token_embd.weight" || name == "position_embd.weight";
    const bool is_head = name == "token_embd.weight" && checkpoint.config.tied_head;
    bytes += is_embedding && !is_head ? bytes_of(tensor.dtype, tensor.shape[1]) : n_bytes(tensor);
  }
  return bytes;
}

}  // namespace orrery
