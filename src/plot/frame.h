// What figures with two axes share: title, legend, grid, axes and their words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"

namespace orrery {

struct LegendEntry {
  std::string name;
  std::function<void(Canvas&, const Box&)> draw_sample;  // into a box of 32 by 12 pixels
};

struct Frame {
  std::string title;
  std::string x_label;
  std::string y_label;
  Axis x;
  Axis y;
  std::vector<LegendEntry> legend;  // stands above the field, where it hides nothing
};

// Where the data goes.
struct Field {
  Box box;
  Axis x;
  Axis y;
  Point at(double x_value, double y_value) const;  // a point that is not finite where an axis cannot show the value
};

// Throws Error where the canvas is too small for the words.
Field draw_frame(Canvas& canvas, const Frame& frame);

}  // namespace orrery
