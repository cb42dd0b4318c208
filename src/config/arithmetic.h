// What a model costs, from its config alone: parameters, bytes, floating-point operations. No file is read.
#pragma once

#include <cstdint>

#include "config/model_config.h"
#include "tensor/dtype.h"

namespace orrery {

struct ParameterCount {
  int64_t embedding = 0;  // token (and position) embedding; also the head where tied
  int64_t matrices = 0;   // of all blocks, that multiply every token
  int64_t vectors = 0;    // gains and biases
  int64_t head = 0;       // 0 where tied
  int64_t total() const { return embedding + matrices + vectors + head; }
};
ParameterCount parameter_count(const ModelConfig& config);

// Bytes with matrices of one type and vectors in F32.
uint64_t weight_bytes(const ModelConfig& config, DType matrices);

// Bytes of keys and values for one position, all layers.
uint64_t kv_bytes_per_position(const ModelConfig& config, DType keys, DType values);

// What an Arena takes for a tensor of so many elements: blocks begin at multiples of 64 bytes.
uint64_t arena_bytes(int64_t elements, DType dtype);
// Most bytes that the arena holds during a forward pass of `rows` rows of which `logit_rows` want logits.
uint64_t activation_bytes(const ModelConfig& config, int64_t rows, int64_t logit_rows, DType activations);

// Of these, what is made before the first block: angles and the embedded tokens.
uint64_t embedding_activation_bytes(const ModelConfig& config, int64_t rows, DType activations);

// What the rows of a call have to look at.
struct RowCounts {
  int64_t rows = 0;
  int64_t logit_rows = 0;
  int64_t visible_keys = 0;   // over all rows: a row at position p sees p + 1,
  int64_t windowed_keys = 0;  // and in a windowed layer the last `window` of them
};
RowCounts consecutive_rows(const ModelConfig& config, int64_t first_position, int64_t rows, int64_t logit_rows);

// Floating-point operations of one forward pass; a multiply-add is two. `other` is everything but matrix products and
// attention, an exp or square root counted as one.
struct FlopCount {
  int64_t matmul = 0;
  int64_t attention = 0;  // of which 4 * head_dim for each head, row and key are multiply-adds
  int64_t attention_products = 0;
  int64_t other = 0;
  int64_t total() const { return matmul + attention + other; }
};
FlopCount forward_flops(const ModelConfig& config, const RowCounts& counts);

// The multiply-adds among them (matmul and attention_products), by what they are for.
struct FlopParts {
  int64_t projections = 0;  // to queries, keys and values, and out of attention; all of a recurrent layer
  int64_t attention = 0;    // scores and mix
  int64_t feed_forward = 0;
  int64_t head = 0;  // to the vocabulary
};
FlopParts forward_flop_parts(const ModelConfig& config, const RowCounts& counts);

// Operations of training on a token within a text of `length` tokens, as Chowdhery et al. (2022, "PaLM", appendix B)
// count them for their model FLOPs utilization: 6 for each number of a matrix, and attention as if every token saw the
// whole text, or all of its window. What an implementation computes twice does not count.
double training_flops_per_token(const ModelConfig& config, double length);

}  // namespace orrery
