// Weights written row by row, in whatever type is wanted, so that no model is ever held in memory twice.
#pragma once

#include <string>

#include "base/output_file.h"
#include "tensor/tensor.h"

namespace orrery {

// Throws Error where a value is not finite or too large for Q8_0's F16 scales.
void write_rows(const std::string& name, const Tensor& weight, DType type, OutputFile& file);

}  // namespace orrery
