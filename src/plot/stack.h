// The edges of areas that lie on top of each other.
#pragma once

#include <vector>

#include "plot/area_figure.h"

namespace orrery {

void check(const AreaFigure& figure);  // throws Error

class Stack {
 public:
  explicit Stack(const AreaFigure& figure);
  // The upper edge of area number `area` over x from `from` to `to`: its highest point, if it bends or jumps there,
  // else its mean. NaN where there is none.
  double top(size_t area, double from, double to) const;
  // The sum of all areas at each x; NaN in gaps.
  const std::vector<double>& sums() const { return tops_.empty() ? x_ : tops_.back(); }

 private:
  std::vector<double> x_;
  std::vector<std::vector<double>> tops_;  // [areas][x]
  bool has_steps_;

  double at(size_t area, double x) const;
};

}  // namespace orrery
