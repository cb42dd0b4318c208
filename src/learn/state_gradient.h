// What a recurrent layer still knows of the state that it began with.
#pragma once

#include "kernels/recurrent.h"
#include "learn/learner.h"

namespace orrery {

// Of a recurrent model's layer, where they lie among the parameters: the weights, or their gradients.
RecurrentWeights recurrent_weights(const Parameters& parameters, int layer,
                                   Tensor Parameter::*part = &Parameter::weight);

// The Frobenius norm of dh_T/dh_0, divided by that of dh_0/dh_0 (which is 1 for each unit), where layer 0 begins with
// zeros and T is the number of rows of x, [T, d_model]. Also the gradients of the layer's weights are added to.
// Through time the norm shrinks or grows like a power of T (Bengio et al., 1994).
double state_gradient_norm(Learner& learner, const Tensor& x);

}  // namespace orrery
