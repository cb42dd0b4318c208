// F16 with the conversion instructions of F16C, and the signed bytes of Q8_0 eight at a time.
#include <immintrin.h>

#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {

void widen_f16_avx2(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  for (int64_t r = 0; r < n_rows; ++r, y += n) {
    const char* row = static_cast<const char*>(x) + r * row_bytes;
    const uint16_t* halves = reinterpret_cast<const uint16_t*>(row);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
    }
    for (; i < n; ++i) y[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(halves[i])));
  }
}

void narrow_f16_avx2(const float* x, int64_t n, void* y) {
  uint16_t* halves = static_cast<uint16_t*>(y);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i), eight);
  }
  // The plain loop gives the same bits but for the payload of a NaN.
  if (i < n) narrow_f16(x + i, n - i, halves + i);
}

void widen_q8_0_avx2(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  for (int64_t r = 0; r < n_rows; ++r, y += n) {
    const char* block = static_cast<const char*>(x) + r * row_bytes;
    for (int64_t i = 0; i < n; i += 32, block += 34) {
      const __m256 scale = _mm256_cvtph_ps(_mm_set1_epi16(*reinterpret_cast<const int16_t*>(block)));
      for (int j = 0; j < 32; j += 8) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + 2 + j));
        _mm256_storeu_ps(y + i + j, _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight))));
      }
    }
  }
}

}  // namespace orrery::ORRERY_ISA
