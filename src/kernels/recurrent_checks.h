// What every implementation of the recurrent layers asks of its arguments before it touches memory. Throws Error that
// names the operation and the tensor.
#pragma once

#include <initializer_list>

#include "kernels/recurrent.h"

namespace orrery {

// Sequences that are not empty and cover the rows of x one after the other; weights for so many gates (of any type, or
// of that of the activations where `trains`); outputs of the type of the activations.
void check_recurrent(const char* operation, DType activations, const RecurrentInput& in, int n_gates,
                     std::initializer_list<const Tensor*> outputs, bool trains = false);
// Gradients look like what they are the gradients of. Outputs' gradients are among `outputs` above.
void check_recurrent_gradients(const char* operation, DType activations, const RecurrentInput& in,
                               const RecurrentGradients& d);

inline int64_t d_hidden_of(const RecurrentInput& in) { return in.weights.hidden.shape[1]; }

}  // namespace orrery
