// Between the ways of storing numbers. One element, or whole rows; nothing here is fast, everything is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace orrery {

constexpr int kQ8BlockElements = 32;

struct Q8Block {   // GGUF's Q8_0: value i is scale * q[i]
  uint16_t scale;  // F16
  int8_t q[kQ8BlockElements];
};
static_assert(sizeof(Q8Block) == 34);

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);  // rounds to nearest even; too large becomes infinity, NaN stays NaN
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);

// scale = max |x| / 127 as F16, q = x / scale rounded half away from zero, never -128. All zero gives zeros. Values
// must be finite, and |x| below 127 * 65504.
Q8Block quantize_q8_block(std::span<const float, kQ8BlockElements> x);

// `n` elements that lie side by side, from any type to any type; through F32, or through F64 where both are wide.
// Q8_0 needs `n` to be a multiple of 32. Double to half is rounded once, not by way of float.
void convert_row(DType from, const std::byte* source, DType to, std::byte* target, int64_t n);

}  // namespace orrery
