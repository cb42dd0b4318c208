#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {

extern const Loops loops = {
#ifdef __AVX2__
    .dots_f32 = dots_f32_avx2,
    .dots_f16 = dots_f16_avx2,
    .dots_bf16 = dots_bf16_avx2,
    .dots_q8_0 = dots_q8_0_avx2,
    .widen_f16 = widen_f16_avx2,
    .widen_bf16 = widen_bf16,
    .widen_q8_0 = widen_q8_0_avx2,
    .narrow_f16 = narrow_f16_avx2,
#else
    .dots_f32 = dots_f32,
    .dots_f16 = dots_f16,
    .dots_bf16 = dots_bf16,
    .dots_q8_0 = dots_q8_0,
    .widen_f16 = widen_f16,
    .widen_bf16 = widen_bf16,
    .widen_q8_0 = widen_q8_0,
    .narrow_f16 = narrow_f16,
#endif
    .narrow_bf16 = narrow_bf16,
    .add_weighted_rows = add_weighted_rows,
    .add = add,
    .scale = scale,
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .rope_interleaved = rope_interleaved,
    .rope_half_split = rope_half_split,
    .silu = silu,
    .gelu_tanh = gelu_tanh,
    .silu_gated = silu_gated,
    .gelu_tanh_gated = gelu_tanh_gated,
    .maximum = maximum,
    .exponentials = exponentials,
    .exponential_sum = exponential_sum,
    .additive_score = additive_score,
    .multiply = multiply,
};

}  // namespace orrery::ORRERY_ISA
