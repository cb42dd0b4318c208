// Norms, rotations and scores of one row; updates of weights.
#include "kernels/fast/isa/backward_functions.h"

namespace orrery::ORRERY_ISA {

// y = x * r * gain with r = (mean(x^2) + epsilon)^(-1/2), so dr/dx = -r^3 * x / n.
void rms_norm_back(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                   float* dgain) {
  float squares = 0, along = 0;
#pragma omp simd reduction(+ : squares, along)
  for (int64_t i = 0; i < n; ++i) {
    squares += x[i] * x[i];
    along += dy[i] * gain[i] * x[i];
  }
  const float r = 1 / __builtin_sqrtf(squares / static_cast<float>(n) + epsilon);
  const float shrink = along * r * r * r / static_cast<float>(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    dx[i] += dy[i] * gain[i] * r - x[i] * shrink;
    dgain[i] += dy[i] * x[i] * r;
  }
}

// y = z * gain + bias with z = (x - mean) * r. Moving all x, or stretching them, does not change z.
void layer_norm_back(const float* x, const float* gain, float epsilon, const float* dy, int64_t n, float* dx,
                     float* dgain, float* dbias) {
  const float count = static_cast<float>(n);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const float mean = sum / count;
  float squares = 0, dz = 0, dz_x = 0;
#pragma omp simd reduction(+ : squares, dz, dz_x)
  for (int64_t i = 0; i < n; ++i) {
    squares += (x[i] - mean) * (x[i] - mean);
    dz += dy[i] * gain[i];
    dz_x += dy[i] * gain[i] * (x[i] - mean);
  }
  const float r = 1 / __builtin_sqrtf(squares / count + epsilon);
  const float mean_dz = dz / count, mean_dz_z = dz_x * r / count;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float z = (x[i] - mean) * r;
    dx[i] += r * (dy[i] * gain[i] - mean_dz - z * mean_dz_z);
    dgain[i] += dy[i] * z;
    dbias[i] += dy[i];
  }
}

void rope_interleaved_back(const float* dy, const float* cosine, const float* sine, int64_t n_pairs, float* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n_pairs; ++i) {
    const float first = dy[2 * i], second = dy[2 * i + 1];
    dx[2 * i] += first * cosine[i] + second * sine[i];
    dx[2 * i + 1] += second * cosine[i] - first * sine[i];
  }
}

void rope_half_split_back(const float* dy, const float* cosine, const float* sine, int64_t n_pairs, float* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n_pairs; ++i) {
    const float first = dy[i], second = dy[i + n_pairs];
    dx[i] += first * cosine[i] + second * sine[i];
    dx[i + n_pairs] += second * cosine[i] - first * sine[i];
  }
}

void softmax_back(const float* p, float mean, int64_t n, float* dp) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dp[i] = p[i] * (dp[i] - mean);
}

float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void add_scaled(const float* x, float factor, int64_t n, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] += x[i] * factor;
}

double sum_of_squares(const float* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

void adamw(const BackwardLoops::AdamW& step, const float* dw, int64_t n, float* w, float* mean, float* square) {
  const BackwardLoops::AdamW s = step;  // by value: the compiler need not fear that w overlaps it
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float m = s.beta1 * mean[i] + s.fresh_mean * dw[i];
    const float v = s.beta2 * square[i] + s.fresh_square * dw[i] * dw[i];
    mean[i] = m;
    square[i] = v;
    w[i] = s.kept * w[i] - s.rate * (m * s.unbias_mean) / (__builtin_sqrtf(v * s.unbias_square) + s.epsilon);
  }
}

void sgd(const BackwardLoops::Sgd& step, const float* dw, int64_t n, float* w, float* momentum) {
  const BackwardLoops::Sgd s = step;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float b = s.momentum * momentum[i] + dw[i] + s.weight_decay * w[i];
    momentum[i] = b;
    w[i] -= s.rate * b;
  }
}

}  // namespace orrery::ORRERY_ISA
