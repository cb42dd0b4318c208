// What the two ways to draw a LineFigure share.
#pragma once

#include <string>

#include "plot/line_figure.h"

namespace orrery {

void check(const LineFigure& figure);  // throws Error

struct Axes {
  Axis x;
  Axis y;
};
Axes axes_of(const LineFigure& figure);

// "training (mean of 61)" for a noisy series
std::string legend_name(const Series& series);

}  // namespace orrery
