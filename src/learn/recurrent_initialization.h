// What the weights of a recurrent model begin as.
#pragma once

#include <cstdint>
#include <string>

#include "learn/parameters.h"

namespace orrery {

struct RecurrentInitialization {
  // The matrices of the hidden state: orthogonal, each gate's for itself (Saxe et al., 2014), so that what goes round
  // neither grows nor shrinks at first.
  bool orthogonal = false;
  // Added to the bias of the LSTM's forget gate: 1 lets it remember from the start (Jozefowicz et al., 2015).
  double forget_bias = 0;
};

// As PyTorch has it: layers and head uniform in +-1 / sqrt(d_hidden), the embedding normal with deviation 1; a tied
// embedding as the head. The same seed gives the same weights.
void initialize_recurrent(Parameters& parameters, const ModelConfig& config, uint64_t seed,
                          const RecurrentInitialization& options = {});

// "uniform, forget bias 1", for the plan of a run.
std::string description(const ModelConfig& config, const RecurrentInitialization& options);

}  // namespace orrery
