// How long a model takes to read.
#pragma once

#include "kernels/kernels.h"
#include "model/language_model.h"

namespace orrery {

// Seconds of a forward pass without logits over `texts` texts of `length` tokens each: the shortest of `runs` passes,
// which is the one that other programs disturbed least.
double shortest_forward(LanguageModel& model, Kernels& kernels, int texts, int length, int runs);

}  // namespace orrery
