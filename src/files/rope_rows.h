// The rows of q and k for the other way in which rotary positions turn a head.
#pragma once

#include <cstddef>
#include <vector>

#include "config/model_config.h"
#include "tensor/tensor.h"

namespace orrery {

// The bytes of a weight or bias of q or k, whose pairs (i, i + dims/2) of each head are put side by side, as
// (2i, 2i+1): RopeLayout::half_split becomes RopeLayout::interleaved, and the model computes the same.
std::vector<std::byte> interleaved_rows(const Tensor& weight, const ModelConfig& config);

}  // namespace orrery
