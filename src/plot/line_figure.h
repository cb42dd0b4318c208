// Curves over two axes, as a PNG file and for the terminal.
#pragma once

#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/level.h"
#include "plot/series.h"

namespace orrery {

struct LineFigure {
  std::string title = {};
  AxisOptions x = {};
  AxisOptions y = {};
  std::vector<Series> series = {};  // later ones are drawn over earlier ones
  std::vector<Level> levels = {};
  std::vector<Moment> moments = {};
  std::vector<MarkedPoint> points = {};
  int width = 960;  // pixels of the PNG
  int height = 540;
};

// All three throw Error where a series has not as many x as y, or an axis is given a range that is none. A point that
// an axis cannot show (NaN, infinite, zero and less on a logarithmic scale) is a gap in its line.

// The same figure gives the same pixels for the same fonts. Throws Error also where the picture is too small for the
// words.
Canvas drawn(const LineFigure& figure, const Lettering& lettering = {});
void write_png(const LineFigure& figure, const std::string& path, const Lettering& lettering = Lettering::of_system());

// Lines of text (each with '\n'): title, name of the y axis, a field of braille dots, numbers, name of the x axis,
// legend. Of a noisy series only the mean is shown. No line has more than `width` columns, except for a title or label
// that is longer; the field has `height` rows. Of several series, a later one covers an earlier one character by
// character. Without colours the first line is made of dots and each further one of letters (o, x, ...; only at its
// points, if it has some); with colours (ANSI escape sequences) all are dots. Throws Error unless width is 20 to 1000
// and height 2 to 1000.
std::string terminal_text(const LineFigure& figure, int width = 72, int height = 16, bool colours = false);

}  // namespace orrery
