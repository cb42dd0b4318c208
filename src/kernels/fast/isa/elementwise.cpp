// Additions, norms and rotations of one row.
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

float sum_of_squared_differences(const float* x, float center, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += (x[i] - center) * (x[i] - center);
  return sum;
}

float inverse_root(float value) { return 1 / __builtin_sqrtf(value); }

}  // namespace

void add(const float* a, const float* b, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

void scale(const float* x, float factor, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

void rms_norm(const float* x, const float* gain, float epsilon, int64_t n, float* y) {
  const float mean_square = sum_of_squared_differences(x, 0, n) / static_cast<float>(n);
  const float factor = inverse_root(mean_square + epsilon);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor * gain[i];
}

void layer_norm(const float* x, const float* gain, const float* bias, float epsilon, int64_t n, float* y) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const float mean = sum / static_cast<float>(n);
  const float variance = sum_of_squared_differences(x, mean, n) / static_cast<float>(n);
  const float factor = inverse_root(variance + epsilon);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor * gain[i] + bias[i];
}

void rope_interleaved(const float* x, const float* cosine, const float* sine, int64_t n_pairs, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n_pairs; ++i) {
    const float first = x[2 * i], second = x[2 * i + 1];
    y[2 * i] = first * cosine[i] - second * sine[i];
    y[2 * i + 1] = first * sine[i] + second * cosine[i];
  }
}

void rope_half_split(const float* x, const float* cosine, const float* sine, int64_t n_pairs, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n_pairs; ++i) {
    const float first = x[i], second = x[i + n_pairs];
    y[i] = first * cosine[i] - second * sine[i];
    y[i + n_pairs] = first * sine[i] + second * cosine[i];
  }
}

}  // namespace orrery::ORRERY_ISA
