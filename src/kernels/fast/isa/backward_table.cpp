#include "kernels/fast/isa/backward_functions.h"

namespace orrery::ORRERY_ISA {

extern const BackwardLoops backward_loops = {
    .rms_norm = rms_norm_back,
    .layer_norm = layer_norm_back,
    .rope_interleaved = rope_interleaved_back,
    .rope_half_split = rope_half_split_back,
    .silu = silu_back,
    .gelu_tanh = gelu_tanh_back,
    .silu_gated = silu_gated_back,
    .gelu_tanh_gated = gelu_tanh_gated_back,
    .softmax = softmax_back,
    .dot = dot,
    .add_scaled = add_scaled,
    .additive_score = additive_score_back,
    .sum_of_squares = sum_of_squares,
    .adamw = adamw,
    .sgd = sgd,
};

}  // namespace orrery::ORRERY_ISA
