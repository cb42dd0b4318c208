// How numbers are stored. Names are those of GGUF and llama.cpp in capitals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

enum class DType : uint8_t {
  F32,   // IEEE 754 binary32
  F16,   // IEEE 754 binary16
  BF16,  // the upper half of a binary32
  F64,   // IEEE 754 binary64: activations of the double-precision reference
  Q8_0,  // blocks of 32: an F16 scale d, then 32 signed bytes q; value = d * q
};

struct DTypeInfo {
  const char* name;
  int block_elements;  // elements that are stored together; a row is a whole number of blocks
  size_t block_bytes;
};

const DTypeInfo& info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);  // "f16" or "F16"

// Bytes of `n` elements that lie side by side; `n` is a multiple of the block.
inline size_t bytes_of(DType dtype, int64_t n) {
  return static_cast<size_t>(n / info(dtype).block_elements) * info(dtype).block_bytes;
}

}  // namespace orrery
