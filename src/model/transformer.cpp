#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace orrery {

// The whole model: embedding, blocks, head.
Tensor Transformer::forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                            std::span<Observer* const> observers) {
  Pass pass = begin(rows, kernels, arena, observers);
  Tensor x = embed(pass);                                               // [n, d_model]
  for (pass.layer = 0; pass.layer < config().n_layers; ++pass.layer) {  //
    x = block(pass, x);                                                 // [n, d_model]
  }
  pass.layer = -1;
  Tensor logits = head(pass, x);  // [rows that want logits, vocab]
  for (const Sequence& sequence : pass.sequences) {
    if (sequence.cache != nullptr) sequence.cache->advance(sequence.n_keys());
  }
  return logits;
}

Tensor Transformer::embed(Pass& pass) const {
  Kernels& kernels = pass.kernels;
  const int64_t d_model = config().d_model;
  Tensor embedded = pass.make("embed", d_model);
  if (config().positions == Positions::rope) {
    Tensor tokens = config().embedding_scale == 1 ? embedded : pass.make("token_embed", d_model);
    kernels.embed(weights_.token_embedding, pass.tokens, tokens);                                  // [n, d_model]
    if (config().embedding_scale != 1) kernels.scale(tokens, config().embedding_scale, embedded);  // [n, d_model]
  } else {
    Tensor tokens = pass.make("token_embed", d_model);
    Tensor places = pass.make("position_embed", d_model);
    kernels.embed(weights_.token_embedding, pass.tokens, tokens);        // [n, d_model]
    kernels.embed(weights_.position_embedding, pass.positions, places);  // [n, d_model]
    kernels.add(tokens, places, embedded);                               // [n, d_model]
  }
  pass.announce(embedded);
  return embedded;
}

// One block: attention mixes information between positions, the feed-forward works on each position by itself; both
// add to the residual stream.
Tensor Transformer::block(Pass& pass, const Tensor& x) const {
  const BlockWeights& weights = weights_.blocks[static_cast<size_t>(pass.layer)];
  Tensor resid = pass.make("resid", config().d_model);  // outlives the block: made before the scope
  const Arena::Scope scope(pass.arena);

  Tensor attn_norm = norm(pass, "attn_norm", weights.attn_norm, x);  // [n, d_model]
  Tensor attn_out = attention(pass, attn_norm);                      // [n, d_model]
  if (config().post_norms) attn_out = norm(pass, "post_attention_norm", weights.post_attention_norm, attn_out);
  Tensor resid_mid = pass.make("resid_mid", config().d_model);
  pass.kernels.add(x, attn_out, resid_mid);  // [n, d_model]
  pass.announce(resid_mid);

  Tensor ffn_norm = norm(pass, "ffn_norm", weights.ffn_norm, resid_mid);  // [n, d_model]
  Tensor ffn_out = feed_forward(pass, ffn_norm);                          // [n, d_model]
  if (config().post_norms) ffn_out = norm(pass, "post_ffw_norm", weights.post_ffw_norm, ffn_out);
  pass.kernels.add(resid_mid, ffn_out, resid);  // [n, d_model]
  pass.announce(resid);
  return resid;
}

Tensor Transformer::attention(Pass& pass, const Tensor& x) const {
  const BlockWeights& weights = weights_.blocks[static_cast<size_t>(pass.layer)];
  Tensor q = linear(pass, "attn.q", weights.q, x);  // [n, n_heads * head_dim]
  Tensor k = linear(pass, "attn.k", weights.k, x);  // [n, n_kv_heads * head_dim]
  Tensor v = linear(pass, "attn.v", weights.v, x);  // [n, n_kv_heads * head_dim]
  if (config().qk_norm) {
    q = head_norm(pass, "attn.q_norm", weights.q_norm, q);  // [n, n_heads * head_dim]
    k = head_norm(pass, "attn.k_norm", weights.k_norm, k);  // [n, n_kv_heads * head_dim]
  }
  if (config().positions == Positions::rope) {
    q = rope(pass, "attn.q_rope", q);  // [n, n_heads * head_dim]
    k = rope(pass, "attn.k_rope", k);  // [n, n_kv_heads * head_dim]
  }
  Tensor mix = attend(pass, q, k, v);                      // [n, n_heads * head_dim]
  return linear(pass, "attn.out", weights.attn_out, mix);  // [n, d_model]
}

// Every row looks at the keys of its own sequence: those in the cache, or those of this call.
Tensor Transformer::attend(Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v) const {
  const double query_size = config().query_size > 0 ? config().query_size : config().head_dim;
  // YaRN would make queries and keys larger; their product is made so instead.
  const double scale = config().yarn.magnitude * config().yarn.magnitude / std::sqrt(query_size);
  const AttentionShape shape{config().n_heads, config().n_kv_heads, config().head_dim, scale,
                             config().is_windowed(pass.layer) ? config().window : 0};
  std::vector<std::vector<KeyValueSpan>> spans;  // of each sequence
  std::vector<AttentionGroup> groups;
  for (const Sequence& sequence : pass.sequences) {
    const Tensor keys = slice_rows(k, sequence.first_row, sequence.n_rows);    // [n_rows, kv_dim]
    const Tensor values = slice_rows(v, sequence.first_row, sequence.n_rows);  // [n_rows, kv_dim]
    if (sequence.cache != nullptr) {
      sequence.cache->write(pass.layer, sequence.first_position, keys, values, pass.kernels);
      spans.push_back(sequence.cache->spans(pass.layer, sequence.n_keys()));
    } else {
      spans.push_back(spans_of_rows(keys, values));
    }
    groups.push_back({sequence.first_row,
                      std::span(pass.positions).subspan(size_t(sequence.first_row), size_t(sequence.n_rows)),
                      spans.back()});
  }

  Tensor mix = pass.make("attn.mix", config().q_dim());
  if (pass.is_wanted("attn.scores") || pass.is_wanted("attn.weights")) {
    for (size_t i = 0; i < groups.size(); ++i) attend_visibly(pass, shape, i, groups[i], q, mix);
  } else {
    pass.kernels.attention(shape, groups, q, mix);  // [n, n_heads * head_dim]
  }
  pass.announce(mix);
  return mix;
}

// Gated: down(activation(gate(x)) * up(x)), with SiLU SwiGLU; else down(activation(up(x))).
Tensor Transformer::feed_forward(Pass& pass, const Tensor& x) const {
  const BlockWeights& weights = weights_.blocks[static_cast<size_t>(pass.layer)];
  const bool is_gated = config().gated_ffn;
  Tensor gate;
  if (is_gated) gate = linear(pass, "ffn.gate", weights.gate, x);  // [n, d_ff]
  Tensor up = linear(pass, "ffn.up", weights.up, x);               // [n, d_ff]
  Tensor act = pass.make("ffn.act", config().d_ff);
  if (is_gated) pass.kernels.activate_gated(config().activation, gate, up, act);  // [n, d_ff]
  if (!is_gated) pass.kernels.activate(config().activation, up, act);             // [n, d_ff]
  pass.announce(act);
  return linear(pass, "ffn.out", weights.down, act);  // [n, d_model]
}

Tensor Transformer::head(Pass& pass, const Tensor& x) const {
  Tensor final_norm = norm(pass, "final_norm", weights_.final_norm, x);  // [n, d_model]
  const auto n_logits = static_cast<int64_t>(pass.logit_rows.size());
  Tensor logits = pass.make("logits", {n_logits, config().vocab_size});
  if (n_logits == 0) return logits;
  Tensor wanted = final_norm;
  if (n_logits < pass.n()) {  // the projection to the vocabulary is large: only for rows that ask for it
    wanted = pass.make("final_norm", {n_logits, config().d_model});
    pass.kernels.embed(final_norm, pass.logit_rows, wanted);  // [n_logits, d_model]
  }
  pass.kernels.matmul(wanted, weights_.head, logits);  // [n_logits, vocab]
  pass.announce(logits, pass.wanting_rows());
  return logits;
}

}  // namespace orrery
