// y = scale * x^exponent, the straight line of a figure with two logarithmic axes.
#pragma once

#include <span>

namespace orrery {

struct PowerLaw {
  double scale = 0, exponent = 0;
  double at(double x) const;
};

// The line whose squared distances to log y are least. As many y as x, all above 0, at least two different x.
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

}  // namespace orrery
