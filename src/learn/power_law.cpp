#include "learn/power_law.h"

#include <cmath>

namespace orrery {

double PowerLaw::at(double x) const { return scale * std::pow(x, exponent); }

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    covariance += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    variance += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  const double exponent = covariance / variance;
  return {.scale = std::exp(mean_y - exponent * mean_x), .exponent = exponent};
}

}  // namespace orrery
