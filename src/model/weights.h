// A transformer's weights by name, as the checkpoint holds them. A part that the family lacks has no data.
#pragma once

#include <vector>

#include "files/checkpoint.h"

namespace orrery {

struct NormWeights {
  Tensor gain;  // [d]
  Tensor bias;  // [d]; LayerNorm only
};

struct LinearWeights {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], where the family has one
};

struct BlockWeights {
  NormWeights attn_norm;                           // [d_model]
  LinearWeights q, k, v;                           // [q_dim, d_model], [kv_dim, d_model] twice
  NormWeights q_norm, k_norm;                      // [head_dim]; Qwen3 and Gemma 3
  LinearWeights attn_out;                          // [d_model, q_dim]
  NormWeights ffn_norm;                            // [d_model]
  LinearWeights gate, up;                          // [d_ff, d_model]; gate only where gated
  LinearWeights down;                              // [d_model, d_ff]
  NormWeights post_attention_norm, post_ffw_norm;  // [d_model]; Gemma 3 only
};

struct TransformerWeights {
  Tensor token_embedding;     // [vocab, d_model]
  Tensor position_embedding;  // [context, d_model], where positions are learned
  std::vector<BlockWeights> blocks;
  NormWeights final_norm;  // [d_model]
  Tensor head;             // [vocab, d_model]; the embedding again where tied
};

// Throws Error for a missing weight or one of another shape than the config says.
TransformerWeights transformer_weights(const Checkpoint& checkpoint);

// Bytes that a decoded token reads: every weight once, but of an embedding that is only looked up in, a row.
uint64_t weight_bytes_per_token(const Checkpoint& checkpoint);

inline bool is_present(const Tensor& tensor) { return tensor.data != nullptr; }

}  // namespace orrery
