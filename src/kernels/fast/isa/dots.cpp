// Decoding reads every weight once and uses it once, or a few times if it works on several sequences: memory sets its
// pace. One row of weights after the other, in one stream: the CPU's prefetchers follow a single stream at full speed
// and four at half of it. Each sum runs in 16 lanes, which stay in registers; the compiler makes 8-wide multiply-adds
// of the loops over lanes.
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

constexpr int kLanes = 16;
// Rows of x that are multiplied with a weight while it is in a register.
constexpr int kTogether = 4;

float sum(const float* lanes) {
  float eight[8];
#pragma omp simd
  for (int i = 0; i < 8; ++i) eight[i] = lanes[i] + lanes[i + 8];
  return ((eight[0] + eight[4]) + (eight[2] + eight[6])) + ((eight[1] + eight[5]) + (eight[3] + eight[7]));
}

// y[k] += w * x[k] for N rows of x
template <int N>
void add_dots(const float* w, const float* x, int64_t x_stride, int64_t n, float* y, int64_t y_stride) {
  float lanes[N][kLanes];
  for (int k = 0; k < N; ++k) {
#pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane) lanes[k][lane] = 0;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < N; ++k) {
#pragma omp simd
      for (int lane = 0; lane < kLanes; ++lane) lanes[k][lane] += w[i + lane] * x[k * x_stride + i + lane];
    }
  }
  for (int k = 0; k < N; ++k) {
    float rest = 0;
    for (int64_t j = i; j < n; ++j) rest += w[j] * x[k * x_stride + j];
    y[k * y_stride] += sum(lanes[k]) + rest;
  }
}

void add_all_dots(const float* w, const float* x, int64_t x_stride, int64_t n_x, int64_t n, float* y,
                  int64_t y_stride) {
  for (; n_x >= kTogether; n_x -= kTogether, x += kTogether * x_stride, y += kTogether * y_stride) {
    add_dots<kTogether>(w, x, x_stride, n, y, y_stride);
  }
  switch (n_x) {
    case 1: return add_dots<1>(w, x, x_stride, n, y, y_stride);
    case 2: return add_dots<2>(w, x, x_stride, n, y, y_stride);
    case 3: return add_dots<3>(w, x, x_stride, n, y, y_stride);
  }
}

// Types other than F32 are widened a piece at a time.
constexpr int64_t kPiece = 512;

void dots_of(Loops::Widen widen, int64_t bytes_per_32, const Loops::DotProducts& p) {
  float widened[kPiece];
  for (int64_t r = 0; r < p.n_rows; ++r) {
    for (int64_t part = 0; part < p.n_parts; ++part) {
      const char* w = static_cast<const char*>(p.w) + r * p.row_bytes + part * p.n * bytes_per_32 / 32;
      const float* x = p.x + part * p.n_x * p.x_stride;
      float* y = p.y + part * p.n_x * p.y_stride + r;
      for (int64_t k = 0; k < p.n_x; ++k) y[k * p.y_stride] = 0;
      if (widen == nullptr) {
        add_all_dots(reinterpret_cast<const float*>(w), x, p.x_stride, p.n_x, p.n, y, p.y_stride);
        continue;
      }
      for (int64_t i = 0; i < p.n; i += kPiece) {
        const int64_t length = p.n - i < kPiece ? p.n - i : kPiece;
        widen(w + i * bytes_per_32 / 32, 0, 1, length, widened);
        add_all_dots(widened, x + i, p.x_stride, p.n_x, length, y, p.y_stride);
      }
    }
  }
}

}  // namespace

void dots_f32(const Loops::DotProducts& p) { dots_of(nullptr, 32 * 4, p); }
void dots_f16(const Loops::DotProducts& p) { dots_of(widen_f16, 32 * 2, p); }
void dots_bf16(const Loops::DotProducts& p) { dots_of(widen_bf16, 32 * 2, p); }
void dots_q8_0(const Loops::DotProducts& p) { dots_of(widen_q8_0, 34, p); }

// Four rows at a time: each element of y is loaded and stored once for four products.
void add_weighted_rows(const float* weights, const float* rows, int64_t stride, int64_t n_rows, float* y, int64_t n) {
  int64_t j = 0;
  for (; j + 4 <= n_rows; j += 4, rows += 4 * stride) {
    const float w0 = weights[j], w1 = weights[j + 1], w2 = weights[j + 2], w3 = weights[j + 3];
    const float *r0 = rows, *r1 = rows + stride, *r2 = r1 + stride, *r3 = r2 + stride;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] + w0 * r0[i] + w1 * r1[i] + w2 * r2[i] + w3 * r3[i];
  }
  for (; j < n_rows; ++j, rows += stride) {
    const float w = weights[j];
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += w * rows[i];
  }
}

}  // namespace orrery::ORRERY_ISA
