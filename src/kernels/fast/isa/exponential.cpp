// All that needs exp: activations and softmax.
#include "kernels/fast/isa/exponential_of.h"
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

float silu_of(float x) { return x / (1 + exponential(-x)); }

// x / 2 * (1 + tanh(u)) = x / (1 + exp(-2u)), u = sqrt(2 / pi) * (x + 0.044715 * x^3)
float gelu_tanh_of(float x) {
  const float twice_u = 1.59576912f * (x + 0.044715f * x * x * x);
  return x / (1 + exponential(-twice_u));
}

}  // namespace

void silu(const float* x, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = silu_of(x[i]);
}

void gelu_tanh(const float* x, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = gelu_tanh_of(x[i]);
}

void silu_gated(const float* gate, const float* up, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = silu_of(gate[i]) * up[i];
}

void gelu_tanh_gated(const float* gate, const float* up, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = gelu_tanh_of(gate[i]) * up[i];
}

float maximum(const float* x, int64_t n) {
  constexpr int kLanes = 16;
  float lanes[kLanes];
#pragma omp simd
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = -__builtin_inff();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  }
  float largest = -__builtin_inff();
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

float exponentials(const float* x, float shift, int64_t n, float* y) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    const float value = exponential(x[i] - shift);
    y[i] = value;
    sum += value;
  }
  return sum;
}

double exponential_sum(const float* x, float shift, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(exponential(x[i] - shift));
  return sum;
}

}  // namespace orrery::ORRERY_ISA
