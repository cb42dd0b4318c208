// What the two ways to draw a BarFigure share.
#pragma once

#include <vector>

#include "plot/bar_figure.h"

namespace orrery {

void check(const BarFigure& figure);  // throws Error

struct Bar {
  size_t name = 0;
  size_t series = 0;
  double from = 0;
  double to = 0;  // where the value is
};
// All that can be shown, name by name.
std::vector<Bar> bars_of(const BarFigure& figure, const Axis& values);
// The sum of the values of one name that can be shown; NaN if there is none.
double sum_of(const BarFigure& figure, size_t name);
// With `room` (a share of the whole) for numbers beyond the longest bars.
Axis values_axis(const BarFigure& figure, double room);

}  // namespace orrery
