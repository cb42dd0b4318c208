// What models cost: parameters, memory, computing, time, energy and money, also of those that our forward pass cannot
// run. Plain functions; every one names where its formula comes from. Numbers are in FLOP, bytes, seconds, joules,
// dollars.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace orrery {

// Counted matrix by matrix from the shape, as in the papers of the models.
struct ModelParameters {
  double total = 0;
  double active = 0;     // that a token passes; the embedding table is counted whole
  double embedding = 0;  // token and position tables; some makers leave them out of the active ones
};
ModelParameters model_parameters(const CataloguedModel& model);

// Bytes of a number: "f32" "f16" "bf16" "fp8" "int8" "fp4" and the block types "q8_0" "q4_0" "mxfp4", whose blocks of
// 32 share a scale of two bytes (mxfp4: of one). Throws Error that lists the names.
double bytes_per_number(const std::string& type);

// Keys and values of one token in all layers: 2 * layers * kv_heads * head_dim (Pope et al., 2022, arXiv:2211.05102),
// or layers * (kv_rank + rope_dims) under latent attention. Whether a layer looks at a window only does not count. 0:
// encoder.
double kv_numbers_per_token(const CataloguedModel& model);

// Forward pass for one token that sees `visible` tokens: 2 for each active parameter (Kaplan et al., 2020,
// arXiv:2001.08361, section 2.1), and 2 * layers * heads * (key width + value width) * visible for attention.
double forward_flops_per_token(const CataloguedModel& model, double visible);
double attention_flops_per_token(const CataloguedModel& model, double visible);

// Training: three forward passes, since the way back multiplies every matrix twice: 6 N a token (Kaplan et al., 2020),
// and attention as if every token saw the whole text (Chowdhery et al., 2022, arXiv:2204.02311, appendix B).
double training_flops_per_token(const CataloguedModel& model);
double training_flops_per_token_with_attention(const CataloguedModel& model, double length);

// Weights and gradients in 16 bits, two moments of Adam and a master copy in 32 (Rajbhandari et al., 2020,
// arXiv:1910.02054, section 3.1): bytes for each parameter.
constexpr double kWeightBytes = 2, kGradientBytes = 2, kOptimizerBytes = 12;
constexpr double kTrainingBytes = kWeightBytes + kGradientBytes + kOptimizerBytes;

// The share of one card out of `cards` when stage 0 (nothing), 1 (optimizer), 2 (and gradients) or 3 (and weights) of
// ZeRO is cut into pieces (Rajbhandari et al., 2020, section 5).
double zero_bytes_per_card(double parameters, int stage, double cards);

// Activations that training keeps, in 16 bits, for a GPT-like block (Korthikanti et al., 2022, arXiv:2205.05198,
// equations 1 and 2 and section 5): s b h (34 + 5 a s / h) a layer; without the attention matrices 34 s b h; with every
// block computed anew only its input, 2 s b h. Gated feed-forward layers and grouped heads make this an estimate.
enum class Recompute { none, selective, full };
double activation_bytes(const CataloguedModel& model, double batch, double length, Recompute recompute);

// Seconds of training: operations / (chips * peak * MFU), the model FLOPs utilization of Chowdhery et al. (2022).
double training_seconds(double flops, double chips, double peak, double mfu);

// Weights that a step of decoding reads for a batch: all that are active; of experts the expected number of different
// ones if each token picks at random.
double weights_read(const CataloguedModel& model, double batch);

// Tokens per second that a chip's memory allows in decoding: each step reads those weights once and the keys and values
// of all sequences (Pope et al., 2022, section 2); and that its arithmetic allows in prefill.
double decode_tokens_per_second(const CataloguedModel& model, double batch, double length, double weight_bytes,
                                double kv_bytes, double bandwidth);
double prefill_tokens_per_second(const CataloguedModel& model, double length, double peak);

}  // namespace orrery
