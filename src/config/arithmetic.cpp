#include "config/arithmetic.h"

#include <algorithm>

#include "config/recurrent_arithmetic.h"

namespace orrery {
namespace {

// Widths of a block's matrices, [out, in] by [out, in].
int64_t block_matrices(const ModelConfig& c) {
  const int64_t d = c.d_model;
  const int64_t attention = d * c.q_dim() + 2 * d * c.kv_dim() + c.q_dim() * d;
  return attention + (c.gated_ffn ? 3 : 2) * d * c.d_ff;
}

int64_t block_biases(const ModelConfig& c) {
  int64_t n = 0;
  if (c.attention_bias) n += c.q_dim() + 2 * c.kv_dim();
  if (c.output_bias) n += c.d_model;
  if (c.ffn_bias) n += (c.gated_ffn ? 2 : 1) * c.d_ff + c.d_model;
  return n;
}

int64_t norm_vectors(const ModelConfig& c) { return c.norm == Norm::layer ? 2 : 1; }

int64_t block_norms(const ModelConfig& c) { return c.post_norms ? 4 : 2; }

// Tables of angles: windowed layers may have one of their own.
uint64_t rope_tables(const ModelConfig& c) { return c.local_rope_base != 0 ? 2 : 1; }

int64_t windowed_layers(const ModelConfig& c) {
  if (c.window == 0) return 0;
  return c.global_every == 0 ? c.n_layers : c.n_layers - c.n_layers / c.global_every;
}

}  // namespace

uint64_t arena_bytes(int64_t elements, DType dtype) { return (bytes_of(dtype, elements) + 63) / 64 * 64; }

ParameterCount parameter_count(const ModelConfig& c) {
  if (c.is_recurrent()) return recurrent_parameter_count(c);
  const int64_t d = c.d_model;
  ParameterCount count;
  count.embedding = d * c.vocab_size + (c.positions == Positions::learned ? d * c.context_length : 0);
  count.matrices = c.n_layers * block_matrices(c);
  const int64_t head_norms = c.qk_norm ? 2 * c.head_dim * norm_vectors(c) : 0;
  count.vectors =
      c.n_layers * (block_norms(c) * d * norm_vectors(c) + head_norms + block_biases(c)) + d * norm_vectors(c);
  count.head = c.tied_head ? 0 : d * c.vocab_size;
  return count;
}

uint64_t weight_bytes(const ModelConfig& c, DType matrices) {
  const ParameterCount count = parameter_count(c);
  return bytes_of(matrices, count.embedding + count.matrices + count.head) + bytes_of(DType::F32, count.vectors);
}

uint64_t kv_bytes_per_position(const ModelConfig& c, DType keys, DType values) {
  return static_cast<uint64_t>(c.n_layers) * (bytes_of(keys, c.kv_dim()) + bytes_of(values, c.kv_dim()));
}

uint64_t embedding_activation_bytes(const ModelConfig& c, int64_t rows, DType activations) {
  const uint64_t stream = arena_bytes(rows * c.d_model, activations);
  if (c.positions == Positions::learned) return 3 * stream;
  const uint64_t angles = rope_tables(c) * 2 * arena_bytes(rows * (c.rope_dims / 2), activations);
  return angles + (c.embedding_scale != 1 ? 2 : 1) * stream;
}

uint64_t activation_bytes(const ModelConfig& c, int64_t rows, int64_t logit_rows, DType activations) {
  if (c.is_recurrent()) return recurrent_activation_bytes(c, rows, logit_rows, activations);
  const auto rows_of = [&](int64_t width) { return arena_bytes(rows * width, activations); };
  const uint64_t stream = rows_of(c.d_model);
  const bool is_learned = c.positions == Positions::learned;

  // What one block makes besides its residual: see Transformer::block.
  const uint64_t qkv = rows_of(c.q_dim()) + 2 * rows_of(c.kv_dim());
  const uint64_t qk = rows_of(c.q_dim()) + rows_of(c.kv_dim());
  // Norms, attn.out, resid_mid, ffn.out; q k v; mix.
  uint64_t block = (static_cast<uint64_t>(block_norms(c)) + 3) * stream + qkv + rows_of(c.q_dim());
  if (c.attention_bias) block += qkv;  // products before their bias
  if (c.output_bias) block += stream;
  if (c.qk_norm) block += qk;
  if (!is_learned) block += qk;
  const uint64_t inner = rows_of(c.d_ff);
  block += (c.gated_ffn ? 3 : 2) * inner;
  if (c.ffn_bias) block += (c.gated_ffn ? 2 : 1) * inner + stream;

  uint64_t head = stream;  // final_norm
  if (logit_rows > 0) head += arena_bytes(logit_rows * c.vocab_size, activations);
  if (logit_rows > 0 && logit_rows < rows) head += arena_bytes(logit_rows * c.d_model, activations);
  return embedding_activation_bytes(c, rows, activations) + static_cast<uint64_t>(c.n_layers) * stream +
         std::max(block, head);
}

RowCounts consecutive_rows(const ModelConfig& c, int64_t first_position, int64_t rows, int64_t logit_rows) {
  RowCounts counts = {rows, logit_rows, rows * first_position + rows * (rows + 1) / 2, 0};
  // Of the row at position p the window cuts off what is more than p + 1 - window: of the last rows, 1, 2, 3, ...
  const int64_t last_cut = first_position + rows - c.window, first_cut = last_cut - rows + 1;
  const int64_t n_cut = std::clamp<int64_t>(last_cut, 0, rows);
  counts.windowed_keys = counts.visible_keys - n_cut * (last_cut + std::max<int64_t>(first_cut, 1)) / 2;
  return counts;
}

FlopCount forward_flops(const ModelConfig& c, const RowCounts& counts) {
  if (c.is_recurrent()) return recurrent_forward_flops(c, counts);
  const int64_t d = c.d_model;
  FlopCount flops;
  flops.matmul = 2 * counts.rows * c.n_layers * block_matrices(c) + 2 * counts.logit_rows * d * c.vocab_size;
  // Query by key and weight by value; then scale, and the softmax's subtract, exp, sum and divide.
  const int64_t n_windowed = windowed_layers(c);
  const int64_t keys = counts.visible_keys * (c.n_layers - n_windowed) + counts.windowed_keys * n_windowed;
  flops.attention_products = keys * c.n_heads * 4 * c.head_dim;
  flops.attention = flops.attention_products + keys * c.n_heads * 5;

  const int64_t norm = c.norm == Norm::rms ? 4 : 8;
  const int64_t activation = c.activation == Activation::silu ? 4 : 9;
  int64_t per_block = block_norms(c) * norm * d + 2 * d;  // and two additions to the residual stream
  per_block += (activation + (c.gated_ffn ? 1 : 0)) * c.d_ff + block_biases(c);
  if (c.qk_norm) per_block += 4 * (c.q_dim() + c.kv_dim());
  int64_t per_row = norm * d;  // the last norm
  if (c.positions == Positions::rope) {
    per_block += 6 * (c.n_heads + c.n_kv_heads) * (c.rope_dims / 2);
    per_row += static_cast<int64_t>(rope_tables(c)) * 3 * (c.rope_dims / 2);
  } else {
    per_row += d;  // adding the position embedding
  }
  if (c.embedding_scale != 1) per_row += d;
  flops.other = counts.rows * (c.n_layers * per_block + per_row);
  return flops;
}

double training_flops_per_token(const ModelConfig& c, double length) {
  const int64_t head_input = c.is_recurrent() ? c.d_hidden : c.d_model;
  const int64_t matrices = parameter_count(c).matrices + head_input * c.vocab_size;
  if (c.is_recurrent()) return 6.0 * static_cast<double>(matrices);
  const auto windowed = static_cast<double>(windowed_layers(c));
  const double seen = (c.n_layers - windowed) * length + windowed * std::min<double>(length, c.window);
  return 6.0 * static_cast<double>(matrices) + 12.0 * c.q_dim() * seen;
}

FlopParts forward_flop_parts(const ModelConfig& c, const RowCounts& counts) {
  const int64_t layers_and_rows = c.n_layers * counts.rows;
  FlopParts parts;
  if (c.is_recurrent()) {
    parts.head = 2 * counts.logit_rows * c.d_hidden * c.vocab_size;
    parts.projections = forward_flops(c, counts).matmul - parts.head;
    return parts;
  }
  parts.projections = 2 * layers_and_rows * c.d_model * (2 * c.q_dim() + 2 * c.kv_dim());
  parts.attention = forward_flops(c, counts).attention_products;
  parts.feed_forward = 2 * layers_and_rows * (c.gated_ffn ? 3 : 2) * c.d_model * c.d_ff;
  parts.head = 2 * counts.logit_rows * c.d_model * c.vocab_size;
  return parts;
}

}  // namespace orrery
