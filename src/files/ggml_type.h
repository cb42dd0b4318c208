// The ways in which GGUF files store tensors, also those that we cannot compute with: their names and sizes are enough
// to list a file and to see whether it is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace orrery {

struct GgmlType {
  uint32_t id;
  const char* name;
  uint32_t block_elements;  // stored together; a row is a whole number of blocks
  uint32_t block_bytes;
};

const GgmlType* ggml_type(uint32_t id);  // nullptr for an id that we do not know
const GgmlType& ggml_type(DType dtype);

// The type of ours that this one is, where weights of it can be computed with.
std::optional<DType> weight_dtype(std::string_view ggml_name);
std::string supported_weight_types();  // "F32, F16, BF16 or Q8_0", for messages

}  // namespace orrery
