// The dot products of dots.cpp in AVX2 intrinsics. The compiler does not know how to widen halves and bytes 8 at a time
// (these loops are 1.3 times as fast for BF16, 3 for F16, 10 for Q8_0), and it adds up lanes one by one, which counts
// for sums as short as those of attention (2 times for F32, 64 long). A weight is widened once for up to four rows of
// x.
#include <immintrin.h>

#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

float sum(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

__m128i load_eight_halves(const uint16_t* w) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(w)); }

struct F32 {
  using Stored = float;
  static __m256 eight(const float* w) { return _mm256_loadu_ps(w); }
};
struct F16 {
  using Stored = uint16_t;
  static __m256 eight(const uint16_t* w) { return _mm256_cvtph_ps(load_eight_halves(w)); }
};
struct BF16 {
  using Stored = uint16_t;
  static __m256 eight(const uint16_t* w) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_eight_halves(w)), 16));
  }
};

// Fewer than eight elements, followed by zeros.
template <class Type>
__m256 last(const typename Type::Stored* w, int64_t n) {
  typename Type::Stored padded[8] = {};
  for (int64_t i = 0; i < n; ++i) padded[i] = w[i];
  return Type::eight(padded);
}

template <class Type>
struct PlainRow {
  static int64_t bytes(int64_t n) { return n * static_cast<int64_t>(sizeof(typename Type::Stored)); }

  template <int N>
  static void dots(const char* row, const float* x, int64_t x_stride, int64_t n, float* y, int64_t y_stride) {
    const typename Type::Stored* w = reinterpret_cast<const typename Type::Stored*>(row);
    // Two sums for each x: one would have to wait for its last addition, four cycles each.
    __m256 s0[N], s1[N];
    for (int k = 0; k < N; ++k) s0[k] = s1[k] = _mm256_setzero_ps();
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      const __m256 w0 = Type::eight(w + i), w1 = Type::eight(w + i + 8);
#pragma GCC unroll 4
      for (int k = 0; k < N; ++k) {
        s0[k] = _mm256_fmadd_ps(w0, _mm256_loadu_ps(x + k * x_stride + i), s0[k]);
        s1[k] = _mm256_fmadd_ps(w1, _mm256_loadu_ps(x + k * x_stride + i + 8), s1[k]);
      }
    }
    for (; i < n; i += 8) {
      const int64_t count = n - i < 8 ? n - i : 8;
      const __m256 w0 = last<Type>(w + i, count);
      for (int k = 0; k < N; ++k) s0[k] = _mm256_fmadd_ps(w0, last<F32>(x + k * x_stride + i, count), s0[k]);
    }
    for (int k = 0; k < N; ++k) y[k * y_stride] = sum(_mm256_add_ps(s0[k], s1[k]));
  }
};

// A block of Q8_0 is an F16 scale and 32 signed bytes.
constexpr int kBlockBytes = 34;

// Eight times the scale.
__m256 scale_of(const char* block) { return _mm256_cvtph_ps(_mm_set1_epi16(*reinterpret_cast<const int16_t*>(block))); }
__m256 eight_bytes(const char* q) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(q))));
}

struct Q8Row {
  static int64_t bytes(int64_t n) { return n / 32 * kBlockBytes; }

  template <int N>
  static void dots(const char* block, const float* x, int64_t x_stride, int64_t n, float* y, int64_t y_stride) {
    __m256 s[N];
    for (int k = 0; k < N; ++k) s[k] = _mm256_setzero_ps();
    for (int64_t i = 0; i < n; i += 32, block += kBlockBytes) {
      // Here arithmetic is the limit: the scale is applied once per block, and lines to come are asked for early.
      _mm_prefetch(block + 2048, _MM_HINT_T0);
      const __m256 scale = scale_of(block);
      const char* q = block + 2;
      const __m256 w0 = eight_bytes(q), w1 = eight_bytes(q + 8), w2 = eight_bytes(q + 16), w3 = eight_bytes(q + 24);
#pragma GCC unroll 4
      for (int k = 0; k < N; ++k) {
        const float* xs = x + k * x_stride + i;
        __m256 a = _mm256_mul_ps(w0, _mm256_loadu_ps(xs)), b = _mm256_mul_ps(w1, _mm256_loadu_ps(xs + 8));
        a = _mm256_fmadd_ps(w2, _mm256_loadu_ps(xs + 16), a);
        b = _mm256_fmadd_ps(w3, _mm256_loadu_ps(xs + 24), b);
        s[k] = _mm256_fmadd_ps(_mm256_add_ps(a, b), scale, s[k]);
      }
    }
    for (int k = 0; k < N; ++k) y[k * y_stride] = sum(s[k]);
  }
};

template <class Row>
void dots_of_part(const char* w, const float* x, const Loops::DotProducts& p, float* y) {
  int64_t n_x = p.n_x;
  for (; n_x >= 4; n_x -= 4, x += 4 * p.x_stride, y += 4 * p.y_stride) {
    Row::template dots<4>(w, x, p.x_stride, p.n, y, p.y_stride);
  }
  switch (n_x) {
    case 1: return Row::template dots<1>(w, x, p.x_stride, p.n, y, p.y_stride);
    case 2: return Row::template dots<2>(w, x, p.x_stride, p.n, y, p.y_stride);
    case 3: return Row::template dots<3>(w, x, p.x_stride, p.n, y, p.y_stride);
  }
}

template <class Row>
void dots_of(const Loops::DotProducts& p) {
  const char* row = static_cast<const char*>(p.w);
  for (int64_t r = 0; r < p.n_rows; ++r, row += p.row_bytes) {
    for (int64_t part = 0; part < p.n_parts; ++part) {
      dots_of_part<Row>(row + part * Row::bytes(p.n), p.x + part * p.n_x * p.x_stride, p,
                        p.y + part * p.n_x * p.y_stride + r);
    }
  }
}

}  // namespace

void dots_f32_avx2(const Loops::DotProducts& p) { dots_of<PlainRow<F32>>(p); }
void dots_f16_avx2(const Loops::DotProducts& p) { dots_of<PlainRow<F16>>(p); }
void dots_bf16_avx2(const Loops::DotProducts& p) { dots_of<PlainRow<BF16>>(p); }
void dots_q8_0_avx2(const Loops::DotProducts& p) { dots_of<Q8Row>(p); }

}  // namespace orrery::ORRERY_ISA
