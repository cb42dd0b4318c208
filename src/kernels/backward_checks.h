// What every implementation of BackwardKernels asks of its arguments before it touches memory. Values are checked by
// the functions of the forward pass (check_shapes.h), with dy in the place of y: it has the same shape. What is new is
// that a gradient looks like its value.
#pragma once

#include <initializer_list>
#include <span>

#include "kernels/backward.h"

namespace orrery {

// Throws Error unless `gradient` has the shape of `value` and both are of type `activations`.
void check_gradient(const char* operation, DType activations, const Tensor& value, const Tensor& gradient);
// Throws Error unless the groups fit each other and all keys, values and their gradients are of type `activations`.
void check_group_gradients(DType activations, std::span<const AttentionGroup> groups,
                           std::span<const AttentionGroup> dgroups);
// Throws Error unless all tensors are contiguous, of one shape, and of type `activations`.
void check_update(const char* operation, DType activations, std::initializer_list<const Tensor*> tensors);

}  // namespace orrery
