// Slopes of the activations.
#include "kernels/fast/isa/backward_functions.h"
#include "kernels/fast/isa/exponential_of.h"

namespace orrery::ORRERY_ISA {
namespace {

struct ValueAndSlope {
  float value, slope;
};

// x * s(x) with s' = s * (1 - s)
inline ValueAndSlope silu_at(float x) {
  const float sigmoid = 1 / (1 + exponential(-x));
  return {x * sigmoid, sigmoid * (1 + x * (1 - sigmoid))};
}

// GELU's tanh form is x * s(2u), u = sqrt(2 / pi) * (x + 0.044715 * x^3). Far out the slope is 0 or 1, but x^2 might be
// infinite there, and times 0 that would be NaN.
inline ValueAndSlope gelu_tanh_at(float x) {
  float near = choose(x < -20.0f, -20.0f, x);
  near = choose(near > 20.0f, 20.0f, near);
  const float square = near * near;
  const float sigmoid = 1 / (1 + exponential(-1.59576912f * near * (1 + 0.044715f * square)));
  const float slope_of_2u = 1.59576912f * (1 + 3 * 0.044715f * square);
  return {x * sigmoid, sigmoid * (1 + near * (1 - sigmoid) * slope_of_2u)};
}

}  // namespace

void silu_back(const float* x, const float* dy, int64_t n, float* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] += dy[i] * silu_at(x[i]).slope;
}

void gelu_tanh_back(const float* x, const float* dy, int64_t n, float* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] += dy[i] * gelu_tanh_at(x[i]).slope;
}

void silu_gated_back(const float* gate, const float* up, const float* dy, int64_t n, float* dgate, float* dup) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const ValueAndSlope at_gate = silu_at(gate[i]);
    dgate[i] += dy[i] * up[i] * at_gate.slope;
    dup[i] += dy[i] * at_gate.value;
  }
}

void gelu_tanh_gated_back(const float* gate, const float* up, const float* dy, int64_t n, float* dgate, float* dup) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const ValueAndSlope at_gate = gelu_tanh_at(gate[i]);
    dgate[i] += dy[i] * up[i] * at_gate.slope;
    dup[i] += dy[i] * at_gate.value;
  }
}

}  // namespace orrery::ORRERY_ISA
