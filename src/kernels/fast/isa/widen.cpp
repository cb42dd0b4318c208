// From the stored types to F32 and back, in plain integer arithmetic that vectorises. tensor/convert.h says it in
// scalar form; the bits are the same.
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }
float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// condition ? a : b, said in bits: the compiler would make a branch of it, and a loop with a branch stays scalar.
uint32_t choose(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

// Exponent and fraction move into their places of a float; a product then moves the exponent's bias from 15 to 127,
// subnormal numbers included. Infinity and NaN get their exponent of ones.
float f16_value(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;
  const uint32_t finite = bits_of(float_of(magnitude) * 0x1.0p112f);
  const uint32_t special = magnitude | 0x7F800000u;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  return float_of(choose(magnitude >= 0x0F800000u, special, finite) | sign);
}

uint16_t f16_bits(float value) {
  const uint32_t bits = bits_of(value), magnitude = bits & 0x7FFFFFFFu;
  // Adding 2^-1 to numbers below 2^-14 leaves their multiple of 2^-24 in the lowest bits, rounded by the addition.
  const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  const uint32_t normal = ((magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  uint32_t half = choose(magnitude < 0x38800000u, subnormal, normal);
  half = choose(magnitude >= 0x477FF000u, 0x7C00u, half);  // 65520 and more
  half = choose(magnitude > 0x7F800000u, 0x7E00u, half);   // NaN
  return static_cast<uint16_t>(half | ((bits >> 16) & 0x8000u));
}

uint16_t bf16_bits(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>(choose((bits & 0x7FFFFFFFu) > 0x7F800000u, (bits >> 16) | 0x40u, rounded));
}

void widen_f16_row(const void* x, int64_t n, float* y) {
  const uint16_t* halves = static_cast<const uint16_t*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = f16_value(halves[i]);
}

void widen_bf16_row(const void* x, int64_t n, float* y) {
  const uint16_t* halves = static_cast<const uint16_t*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = float_of(static_cast<uint32_t>(halves[i]) << 16);
}

struct Block {  // of Q8_0
  uint16_t scale;
  int8_t q[32];
};

void widen_q8_0_row(const void* x, int64_t n, float* y) {
  const Block* block = static_cast<const Block*>(x);
  for (int64_t i = 0; i < n; i += 32, ++block) {
    const float scale = f16_value(block->scale);
#pragma omp simd
    for (int j = 0; j < 32; ++j) y[i + j] = scale * static_cast<float>(block->q[j]);
  }
}

template <class WidenRow>
void widen_rows(WidenRow widen_row, const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  for (int64_t r = 0; r < n_rows; ++r) widen_row(static_cast<const char*>(x) + r * row_bytes, n, y + r * n);
}

}  // namespace

void widen_f16(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  widen_rows(widen_f16_row, x, row_bytes, n_rows, n, y);
}

void widen_bf16(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  widen_rows(widen_bf16_row, x, row_bytes, n_rows, n, y);
}

void widen_q8_0(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y) {
  widen_rows(widen_q8_0_row, x, row_bytes, n_rows, n, y);
}

void narrow_f16(const float* x, int64_t n, void* y) {
  uint16_t* halves = static_cast<uint16_t*>(y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) halves[i] = f16_bits(x[i]);
}

void narrow_bf16(const float* x, int64_t n, void* y) {
  uint16_t* halves = static_cast<uint16_t*>(y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) halves[i] = bf16_bits(x[i]);
}

}  // namespace orrery::ORRERY_ISA
