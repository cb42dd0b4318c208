// Bars with names, as a PNG file and for the terminal.
#pragma once

#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/level.h"

namespace orrery {

enum class BarStyle {
  grouped,  // the bars of one name side by side
  stacked,  // or on top of each other, what is negative below zero
  points,   // marks in place of bars: with a logarithmic axis a ruler of magnitudes
};

struct BarSeries {
  std::string name = {};
  std::vector<double> values = {};  // one for each name; NaN: no bar
};

struct BarFigure {
  std::string title = {};
  std::vector<std::string> names = {};
  std::string names_label = {};
  AxisOptions values = {};
  std::vector<BarSeries> series = {};
  BarStyle style = BarStyle::grouped;
  bool is_horizontal = false;      // names at the left, where long ones find room
  bool has_numbers = false;        // at the end of each bar; of stacked bars the sum
  std::vector<Level> levels = {};  // of values: across all bars
  int width = 960;                 // pixels of the PNG
  int height = 0;                  // 0: as the bars need it
};

// All three throw Error where a series has not one value for each name, or an axis is given a range that is none, and
// where bars are stacked on a logarithmic axis, which has no sums. Bars begin at zero; on a logarithmic axis, where
// there is none, at a power of ten below all values. Values that the axis cannot show have no bar.

// The same figure gives the same pixels for the same fonts. Throws Error also where the picture is too small for the
// words.
Canvas drawn(const BarFigure& figure, const Lettering& lettering = {});
void write_png(const BarFigure& figure, const std::string& path, const Lettering& lettering = Lettering::of_system());

// Lines of text (each with '\n'), always with names at the left: title, a line for each bar (for each name if they are
// stacked) with its number at the end, the name of the values, legend. No line has more than `width` columns, except
// for a title or label that is longer. Without colours the series differ by their characters, with colours (ANSI escape
// sequences) all are blocks. Throws Error unless width is 20 to 1000.
std::string terminal_text(const BarFigure& figure, int width = 72, bool colours = false);

}  // namespace orrery
