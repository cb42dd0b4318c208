// Points of several kinds, some with their names, as a figure.
#pragma once

#include <string>
#include <vector>

#include "plot/line_figure.h"

namespace orrery {

struct Scatter {
  std::string title = {};
  std::vector<std::string> kinds = {};           // in the legend
  std::vector<std::vector<double>> places = {};  // [points][2]: x and y
  std::vector<int> kind_of = {};                 // [points]: a place in `kinds`
  std::vector<std::string> names = {};           // [points], or none; an empty name is not drawn
};

// Marks for each kind, and names beside points. Throws Error where there are
// not as many kinds (and names, if any) as places, for a place of other than two numbers and for a kind that is none.
LineFigure figure_of(const Scatter& scatter);

}  // namespace orrery
