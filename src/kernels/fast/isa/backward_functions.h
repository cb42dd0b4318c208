// Declares what backward_table.cpp collects. What each function does is said at its entry in BackwardLoops.
#pragma once

#include <cstdint>

#include "kernels/fast/isa/backward_loops.h"

namespace orrery::ORRERY_ISA {

void rms_norm_back(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                   float* dgain);
void layer_norm_back(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                     float* dgain, float* dbias);
void rope_interleaved_back(const float* dy, const float* cosine, const float* sine, int64_t n_pairs, float* dx);
void rope_half_split_back(const float* dy, const float* cosine, const float* sine, int64_t n_pairs, float* dx);

void silu_back(const float* x, const float* dy, int64_t n, float* dx);
void gelu_tanh_back(const float* x, const float* dy, int64_t n, float* dx);
void silu_gated_back(const float* gate, const float* up, const float* dy, int64_t n, float* dgate, float* dup);
void gelu_tanh_gated_back(const float* gate, const float* up, const float* dy, int64_t n, float* dgate, float* dup);

void softmax_back(const float* p, float mean, int64_t n, float* dp);
float dot(const float* a, const float* b, int64_t n);
void add_scaled(const float* x, float factor, int64_t n, float* y);

void additive_score_back(const float* query, const float* key, const float* v, float slope, int64_t n, float* dquery,
                         float* dkey, float* dv);

double sum_of_squares(const float* x, int64_t n);
void adamw(const BackwardLoops::AdamW& step, const float* dw, int64_t n, float* w, float* mean, float* square);
void sgd(const BackwardLoops::Sgd& step, const float* dw, int64_t n, float* w, float* momentum);

}  // namespace orrery::ORRERY_ISA
