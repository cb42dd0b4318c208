#include "tensor/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace orrery {
namespace {

// Loads and stores that do not mind where the bytes lie.
template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// The float next to `value` with its last bit set wherever something was lost ("round to odd"): rounding that once
// more to a shorter type gives what rounding the double at once would give.
float to_odd_float(double value) {
  const auto narrowed = static_cast<float>(value);
  if (static_cast<double>(narrowed) == value || !std::isfinite(narrowed)) return narrowed;
  const float toward_zero = std::abs(narrowed) > std::abs(value) ? std::nextafter(narrowed, 0.0f) : narrowed;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(toward_zero) | 1u);
}

double element(DType dtype, const std::byte* row, int64_t i) {
  switch (dtype) {
    case DType::F32: return load<float>(row + 4 * i);
    case DType::F16: return f16_to_f32(load<uint16_t>(row + 2 * i));
    case DType::BF16: return bf16_to_f32(load<uint16_t>(row + 2 * i));
    case DType::F64: return load<double>(row + 8 * i);
    case DType::Q8_0: {
      const auto block = load<Q8Block>(row + i / kQ8BlockElements * sizeof(Q8Block));
      return f16_to_f32(block.scale) * static_cast<float>(block.q[i % kQ8BlockElements]);
    }
  }
  return 0;
}

void put(DType dtype, std::byte* row, int64_t i, double value) {
  switch (dtype) {
    case DType::F32: store(row + 4 * i, static_cast<float>(value)); break;
    case DType::F16: store(row + 2 * i, f32_to_f16(to_odd_float(value))); break;
    case DType::BF16: store(row + 2 * i, f32_to_bf16(to_odd_float(value))); break;
    case DType::F64: store(row + 8 * i, value); break;
    case DType::Q8_0: break;  // whole blocks only: see convert_row
  }
}

}  // namespace

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));  // infinity, NaN
  if (exponent == 0) {  // subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1.0p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;   // NaN, quiet
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal, steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 0x1.0p24f;
    return sign | static_cast<uint16_t>(std::nearbyintf(steps));
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);  // to nearest, ties to even
  return sign | static_cast<uint16_t>((rounded >> 13) - (112u << 10));
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);  // NaN, quiet
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

Q8Block quantize_q8_block(std::span<const float, kQ8BlockElements> x) {
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  const float scale = largest / 127.0f;
  const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
  Q8Block block = {f32_to_f16(scale), {}};
  for (int i = 0; i < kQ8BlockElements; ++i) {
    // A subnormal scale has an inverse that overflows; the block is as good as zero then.
    const float q = std::isfinite(inverse) ? std::round(x[static_cast<size_t>(i)] * inverse) : 0.0f;
    block.q[i] = static_cast<int8_t>(std::clamp(q, -127.0f, 127.0f));
  }
  return block;
}

void convert_row(DType from, const std::byte* source, DType to, std::byte* target, int64_t n) {
  if (from == to) {
    std::memcpy(target, source, bytes_of(from, n));
    return;
  }
  if (to != DType::Q8_0) {
    for (int64_t i = 0; i < n; ++i) put(to, target, i, element(from, source, i));
    return;
  }
  for (int64_t first = 0; first < n; first += kQ8BlockElements) {
    float x[kQ8BlockElements];
    for (int64_t i = 0; i < kQ8BlockElements; ++i) x[i] = static_cast<float>(element(from, source, first + i));
    store(target + first / kQ8BlockElements * static_cast<int64_t>(sizeof(Q8Block)), quantize_q8_block(x));
  }
}

}  // namespace orrery
