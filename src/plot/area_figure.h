// Areas on top of each other over one axis, such as memory over time, as a PNG file and for the terminal.
#pragma once

#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/level.h"

namespace orrery {

struct Area {
  std::string name = {};
  std::vector<double> y = {};  // one for each x: how high this area is there, 0 or more; not finite: a gap in all areas
};

struct AreaFigure {
  std::string title = {};
  AxisOptions x_axis = {};
  AxisOptions y_axis = {};       // linear: areas add up
  std::vector<double> x = {};    // finite, and none is less than the one before
  std::vector<Area> areas = {};  // the first one lies at the bottom
  bool has_steps = false;        // a value holds until the next x
  std::vector<Level> levels = {};
  std::vector<Moment> moments = {};
  int width = 960;  // pixels of the PNG
  int height = 540;
};

// All three throw Error where one of the rules above is broken, or an axis is given a range that is none.

// The same figure gives the same pixels for the same fonts. Throws Error also where the picture is too small for the
// words.
Canvas drawn(const AreaFigure& figure, const Lettering& lettering = {});
void write_png(const AreaFigure& figure, const std::string& path, const Lettering& lettering = Lettering::of_system());

// Lines of text as those of a LineFigure. Each character of the field belongs to the area at its middle.
std::string terminal_text(const AreaFigure& figure, int width = 72, int height = 16, bool colours = false);

}  // namespace orrery
