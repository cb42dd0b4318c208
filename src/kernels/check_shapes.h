// What every implementation of Kernels asks of its arguments before it touches memory, in one place. Each
// function throws Error naming the operation and its tensors; what is in order costs a few comparisons.
// `activations` is the implementation's activation_type(). Rows of a matrix may lie apart (stride[0]); all
// else is contiguous.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernels.h"
#include "tensor/tensor.h"

namespace orrery {

void check_embed(DType activations, const Tensor& table, std::span<const int32_t> ids, const Tensor& y);
void check_matmul(DType activations, const Tensor& x, const Tensor& w, const Tensor& y);
void check_add(DType activations, const Tensor& a, const Tensor& b, const Tensor& y);
void check_scale(DType activations, const Tensor& x, const Tensor& y);

void check_rms_norm(DType activations, const Tensor& x, const Tensor& gain, const Tensor& y);
void check_layer_norm(DType activations, const Tensor& x, const Tensor& gain, const Tensor& bias, const Tensor& y);

void check_rope_angles(DType activations, std::span<const int> positions, std::span<const double> frequencies,
                       const Tensor& cosine, const Tensor& sine);
void check_rope(DType activations, const Tensor& x, const Tensor& cosine, const Tensor& sine, int head_dim,
                const Tensor& y);

void check_activate(DType activations, const Tensor& x, const Tensor& y);
void check_activate_gated(DType activations, const Tensor& gate, const Tensor& up, const Tensor& y);

// Also: positions lie within the keys, all spans but the last are full, and all have the types of the first.
void check_attention(DType activations, const AttentionShape& shape, std::span<const AttentionGroup> groups,
                     const Tensor& q, const Tensor& mix);
void check_attention_scores(DType activations, const AttentionShape& shape, const AttentionGroup& group,
                            const Tensor& q, const Tensor& scores);
void check_attention_mix(DType activations, const AttentionShape& shape, const AttentionGroup& group,
                         const Tensor& weights, const Tensor& mix);
void check_softmax(DType activations, const Tensor& x, const Tensor& y);

void check_convert(const Tensor& x, const Tensor& y);

void check_first_non_finite(DType activations, const Tensor& x);
void check_largest(DType activations, const Tensor& logits, int64_t count);
void check_cross_entropy(DType activations, const Tensor& logits, std::span<const int32_t> targets,
                         std::span<double> losses);

// Keys of all spans together.
int64_t count_keys(const AttentionGroup& group);

}  // namespace orrery
