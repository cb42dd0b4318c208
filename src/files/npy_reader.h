// NumPy's format for one array (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace orrery {

struct NpyArray {
  DType dtype = DType::F32;    // F16, F32 or F64
  std::vector<int64_t> shape;  // outermost first; none: a single number
  std::vector<std::byte> data;
};

// Versions 1 to 3, little-endian floating point (<f2, <f4, <f8), in C's order. Throws Error for a broken file and for
// other arrays.
NpyArray read_npy(const std::string& path);

}  // namespace orrery
