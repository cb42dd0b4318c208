// YaRN's arithmetic on a config (Peng et al., 2023, "YaRN: Efficient Context Window Extension of Large Language
// Models").
#pragma once

#include <vector>

#include "config/model_config.h"

namespace orrery {

// What each rotary frequency is divided by, from 1 for pairs that turn often within the original context to the whole
// factor for those that turn seldom; empty where the config has no YaRN.
std::vector<double> yarn_factors(const ModelConfig& config);

// The authors' own choice for Yarn::magnitude.
double usual_yarn_magnitude(double factor);

// YaRN is for contexts longer than the original: this is how long. Files may leave the old number where it was.
void stretch_context(ModelConfig& config);

}  // namespace orrery
