// safetensors, written: whole or not at all, and as other programs map them, with every tensor aligned to its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace orrery {

struct SafetensorsTensor {
  std::string name;
  std::string type;                  // as the format has it: "F32", "F64", "F16", "BF16", "I32", ...
  std::vector<int64_t> shape;        // outermost first
  std::span<const std::byte> bytes;  // contiguous, little-endian; borrowed until the file is written
};

// A view of a contiguous tensor of ours, which must not be Q8_0; it has the tensor's own name where none is given.
// Throws Error.
SafetensorsTensor safetensors_tensor(const Tensor& tensor, std::string_view name = "");

// Tensors stand in the file in the order given, those with larger elements before those with smaller ones. Throws Error
// for a name that is there twice, a type that the format has not, bytes that do not fit type and shape, text that is
// not UTF-8, a header past the format's limit, and a file that cannot be written.
void write_safetensors(const std::string& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace orrery
