// Declares what table.cpp collects, in the namespace of the instruction set that is being compiled for. What each
// function does is said at its entry in Loops.
#pragma once

#include <cstdint>

#include "kernels/fast/isa/loops.h"

namespace orrery::ORRERY_ISA {

void dots_f32(const Loops::DotProducts& products);
void dots_f16(const Loops::DotProducts& products);
void dots_bf16(const Loops::DotProducts& products);
void dots_q8_0(const Loops::DotProducts& products);
void add_weighted_rows(const float* weights, const float* rows, int64_t stride, int64_t n_rows, float* y, int64_t n);

void widen_f16(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
void widen_bf16(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
void widen_q8_0(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
void narrow_f16(const float* x, int64_t n, void* y);
void narrow_bf16(const float* x, int64_t n, void* y);

void add(const float* a, const float* b, int64_t n, float* y);
void scale(const float* x, float factor, int64_t n, float* y);
void rms_norm(const float* x, const float* gain, float epsilon, int64_t n, float* y);
void layer_norm(const float* x, const float* gain, const float* bias, float epsilon, int64_t n, float* y);
void rope_interleaved(const float* x, const float* cosine, const float* sine, int64_t n_pairs, float* y);
void rope_half_split(const float* x, const float* cosine, const float* sine, int64_t n_pairs, float* y);

void silu(const float* x, int64_t n, float* y);
void gelu_tanh(const float* x, int64_t n, float* y);
void silu_gated(const float* gate, const float* up, int64_t n, float* y);
void gelu_tanh_gated(const float* gate, const float* up, int64_t n, float* y);
float maximum(const float* x, int64_t n);
float exponentials(const float* x, float shift, int64_t n, float* y);
double exponential_sum(const float* x, float shift, int64_t n);

float additive_score(const float* query, const float* key, const float* v, int64_t n);
void multiply(const Loops::Product& product);

// The same in AVX2 intrinsics, for x86-64-v3 only.
void dots_f32_avx2(const Loops::DotProducts& products);
void dots_f16_avx2(const Loops::DotProducts& products);
void dots_bf16_avx2(const Loops::DotProducts& products);
void dots_q8_0_avx2(const Loops::DotProducts& products);
void widen_f16_avx2(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
void widen_q8_0_avx2(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
void narrow_f16_avx2(const float* x, int64_t n, void* y);

}  // namespace orrery::ORRERY_ISA
