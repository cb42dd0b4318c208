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

const char* row_of(const Loops::DotProducts& p, int64_t r) { return static_cast<const char*>(p.w) + r * p.row_bytes; }

void clear(const Loops::DotProducts& p, int64_t r) {
  for (int64_t k = 0; k < p.n_x; ++k) p.y[k * p.y_stride + r] = 0;
}

// Types without loops of their own are widened a piece at a time.
constexpr int64_t kPiece = 512;

void dots_of_widened(Loops::Widen widen, int64_t piece_bytes, const Loops::DotProducts& p) {
  float widened[kPiece];
  for (int64_t r = 0; r < p.n_rows; ++r) {
    clear(p, r);
    const char* row = row_of(p, r);
    for (int64_t i = 0; i < p.n; i += kPiece, row += piece_bytes) {
      const int64_t length = p.n - i < kPiece ? p.n - i : kPiece;
      widen(row, 0, 1, length, widened);
      add_all_dots(widened, p.x + i, p.x_stride, p.n_x, length, p.y + r, p.y_stride);
    }
  }
}

}  // namespace

void dots_f32(const Loops::DotProducts& p) {
  for (int64_t r = 0; r < p.n_rows; ++r) {
    clear(p, r);
    add_all_dots(reinterpret_cast<const float*>(row_of(p, r)), p.x, p.x_stride, p.n_x, p.n, p.y + r, p.y_stride);
  }
}

void dots_f16(const Loops::DotProducts& p) { dots_of_widened(widen_f16, kPiece * 2, p); }
void dots_bf16(const Loops::DotProducts& p) { dots_of_widened(widen_bf16, kPiece * 2, p); }
void dots_q8_0(const Loops::DotProducts& p) { dots_of_widened(widen_q8_0, kPiece / 32 * 34, p); }

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
