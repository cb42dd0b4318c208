// The inner loops of the way back, beside those of loops.h and under the same rule: no header with inline code.
// All gradients are added to what is there.
#pragma once

#include <cstdint>

namespace orrery {

struct BackwardLoops {
  // One row, dy[n] to dx[n]; parts of the gradients of gain and bias.
  void (*rms_norm)(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                   float* dgain);
  void (*layer_norm)(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                     float* dgain, float* dbias);
  // One head: pair i is (2i, 2i + 1), or (i, i + n_pairs).
  using Rope = void (*)(const float* dy, const float* cosine, const float* sine, int64_t n_pairs, float* dx);
  Rope rope_interleaved, rope_half_split;

  using Activate = void (*)(const float* x, const float* dy, int64_t n, float* dx);
  Activate silu, gelu_tanh;
  using ActivateGated = void (*)(const float* gate, const float* up, const float* dy, int64_t n, float* dgate,
                                 float* dup);
  ActivateGated silu_gated, gelu_tanh_gated;

  // dp = p * (dp - mean): the gradient of scores out of that of their softmax p.
  void (*softmax)(const float* p, float mean, int64_t n, float* dp);
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*add_scaled)(const float* x, float factor, int64_t n, float* y);

  // Of Loops::additive_score, whose gradient is `slope`.
  void (*additive_score)(const float* query, const float* key, const float* v, float slope, int64_t n, float* dquery,
                         float* dkey, float* dv);

  double (*sum_of_squares)(const float* x, int64_t n);  // added up in double precision

  struct AdamW {  // AdamWStep, with all that does not depend on the element worked out
    float kept, rate;
    float beta1, fresh_mean, unbias_mean;
    float beta2, fresh_square, unbias_square;
    float epsilon;
  };
  void (*adamw)(const AdamW& step, const float* dw, int64_t n, float* w, float* mean, float* square);
  struct Sgd {
    float rate, momentum, weight_decay;
  };
  void (*sgd)(const Sgd& step, const float* dw, int64_t n, float* w, float* momentum);
};

// Defined in backward_table.cpp, once per instruction set.
namespace baseline {
extern const BackwardLoops backward_loops;
}
namespace x86_64_v3 {
extern const BackwardLoops backward_loops;
}

}  // namespace orrery
