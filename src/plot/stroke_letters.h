// Words as lines that a pen can draw, in any size: a grid of 5 by 7 dots a letter (stb_easy_font's), neighbouring dots
// joined by lines. No font file is needed. It has ASCII; any other character is a box.
#pragma once

#include <string_view>
#include <vector>

#include "plot/geometry.h"

namespace orrery {

struct Stroke {
  Point from;
  Point to;  // the same as `from`: a dot
};

// In units of a sixth of a capital letter's height: capitals reach from y = -6 to the baseline y = 0, letters like g to
// y = 2. The first letter begins at x = 0.
std::vector<Stroke> letter_strokes(std::string_view text);
// From the first letter's left edge to the last one's right edge, in the same units.
double letters_width(std::string_view text);

}  // namespace orrery
