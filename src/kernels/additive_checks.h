// What every implementation of additive attention asks of its arguments before it touches memory. Throws Error that
// names the tensor.
#pragma once

#include "kernels/additive_attention.h"

namespace orrery {

void check_additive(DType activations, const AdditiveInput& in, const AdditiveOutput& y);
// The same, and gradients look like what they are the gradients of; no two groups share a key.
void check_additive_gradients(DType activations, const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                              const AdditiveGradients& d);

}  // namespace orrery
