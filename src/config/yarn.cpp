#include "config/yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace orrery {
namespace {

// The pair, as a real number, that turns `turns` times within the original context.
double pair_that_turns(const ModelConfig& c, double turns) {
  return c.rope_dims * std::log(c.yarn.original_context / (turns * 2 * std::numbers::pi)) / (2 * std::log(c.rope_base));
}

}  // namespace

std::vector<double> yarn_factors(const ModelConfig& c) {
  if (c.yarn.factor == 1) return {};
  // Both ends are rounded to whole pairs, away from each other, and kept within the head, as everybody does.
  const double first = std::max(0.0, std::floor(pair_that_turns(c, c.yarn.beta_fast)));
  const double last = std::min(c.rope_dims - 1.0, std::ceil(pair_that_turns(c, c.yarn.beta_slow)));
  std::vector<double> factors;
  for (int i = 0; i < c.rope_dims / 2; ++i) {
    const double slow = std::clamp((i - first) / std::max(0.001, last - first), 0.0, 1.0);
    factors.push_back(1 / (slow / c.yarn.factor + (1 - slow)));
  }
  return factors;
}

double usual_yarn_magnitude(double factor) { return factor > 1 ? 1 + 0.1 * std::log(factor) : 1; }

void stretch_context(ModelConfig& config) {
  const double stretched = std::min(config.yarn.factor * config.yarn.original_context, 1e9);
  config.context_length = std::max(config.context_length, static_cast<int>(stretched));
}

}  // namespace orrery
