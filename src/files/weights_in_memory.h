// Weights as a Checkpoint holds them: views of a mapped file, or copies of what cannot be used as it lies there.
#pragma once

#include <cstddef>

#include "files/checkpoint.h"

namespace orrery {

// Adds the weight `tensor.name` to the checkpoint: the bytes at `data` as they are, or a copy where they are
// misaligned, are F64, or are a norm or a bias that is not F32 (all of these are computed with as F32). `copies` says
// so.
void add_mapped_weight(const FileTensor& tensor, DType dtype, const std::byte* data, Checkpoint& checkpoint);

}  // namespace orrery
