// Where a frame's words and its field go on the canvas.
#pragma once

#include <vector>

#include "plot/frame.h"

namespace orrery {

// The ticks of one side; those of names have no lines.
struct Side {
  std::vector<Tick> ticks = {};
  bool has_names = false;
  bool is_upright = false;  // names below the field that would not fit side by side
  double depth = 0;         // pixels that the labels take, away from the field
};

struct Layout {
  Box field = {};
  Side x = {};
  Side y = {};
  double legend_top = 0;
};

inline constexpr double kTickLength = 5;
inline constexpr double kGap = 10;  // between an axis, its numbers and its name

// As many names as find room along `length` pixels, each at most `longest` long. At the left they stand on top of each
// other, else side by side or, if that is too narrow, upright.
Side side_of_names(const Canvas& canvas, const std::vector<std::string>& names, double length, double longest,
                   bool is_left);
void write_below(Canvas& canvas, const Box& field, const Axis& axis, const Side& side);
void write_beside(Canvas& canvas, const Box& field, const Axis& axis, const Side& side);

Layout laid_out(const Canvas& canvas, const Frame& frame);

}  // namespace orrery
