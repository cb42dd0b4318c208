// All that needs exp: activations and softmax.
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

// condition ? a : b, said in bits: the compiler would make a branch of it, and a loop with a branch stays scalar.
float choose(bool condition, float a, float b) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  return __builtin_bit_cast(float,
                            (__builtin_bit_cast(uint32_t, a) & mask) | (__builtin_bit_cast(uint32_t, b) & ~mask));
}

// 2^n for -126 <= n <= 127.
float power_of_two(int32_t n) { return __builtin_bit_cast(float, static_cast<uint32_t>(n + 127) << 23); }

// exp(x) within 1.2e-7 of its value, from exp(n * ln 2 + r) = 2^n * exp(r) with |r| <= ln 2 / 2 and a polynomial for
// exp(r) (coefficients of expf in the Cephes library, Moshier 1989). No branches, so that loops around it vectorise.
// NaN stays NaN, above 88.7 comes infinity, below -104 exactly 0.
float exponential(float x) {
  // NaN passes both comparisons; what lies beyond the limits is infinite or 0 for certain.
  x = choose(x < -110.0f, -110.0f, x);
  x = choose(x > 90.0f, 90.0f, x);
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
  constexpr float kRounder = 0x1.8p23f;
  const float shifted = x * 1.44269504f + kRounder;
  const float n = shifted - kRounder;
  const int32_t exponent = static_cast<int32_t>(__builtin_bit_cast(uint32_t, shifted) & 0x7FFFFF) - 0x400000;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;  // ln 2 in two parts, the first exact in n * part
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  // In two steps: 2^n itself may be too large or too small for a float where the product is not.
  const int32_t half = exponent >> 1;
  return p * power_of_two(half) * power_of_two(exponent - half);
}

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
  float largest = -__builtin_inff();
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
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
