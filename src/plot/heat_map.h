// Matrices as colours, as a PNG file and for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/colour_map.h"

namespace orrery {

struct HeatMapPanel {
  std::string title = {};
  std::vector<double> values = {};       // [n_rows, n_columns]; one that is not finite is a cross
  std::vector<uint8_t> is_missing = {};  // as many, 1 for cells that do not exist, which stay white; empty: all exist
};

struct HeatMap {
  std::string title = {};
  size_t n_rows = 0;
  size_t n_columns = 0;
  std::vector<std::string> row_names = {};     // n_rows of them or none; the first row is at the top
  std::vector<std::string> column_names = {};  // n_columns of them or none
  std::string rows_label = {};
  std::string columns_label = {};
  std::vector<HeatMapPanel> panels = {};  // of the same shape and range of values, such as one for each attention head
  AxisOptions values = {};                // at the colour bar
  bool has_colour_bar = true;             // false: cells say only that they are there (PNG)
  ColourMap colours = ColourMap::sequential;
  bool has_numbers = false;  // in the cells, where they are large enough
  int decimals = 2;          // of these numbers
  int n_across = 0;          // panels side by side; 0: as it looks best
  int width = 960;           // pixels of the PNG
  int height = 0;            // 0: so that cells are about as high as wide
};

// All three throw Error where a panel has not n_rows * n_columns values, there are names for some rows or columns only,
// or the range of values is none. Without a range in `values` it is that of the data; of a diverging map it reaches as
// far below zero as above. Values beyond it have the colour of its end. Of a matrix with more rows or columns than the
// picture has room for, the means of neighbours are shown.

// The same figure gives the same pixels for the same fonts. Throws Error also where the picture is too small for the
// words.
Canvas drawn(const HeatMap& figure, const Lettering& lettering = {});
void write_png(const HeatMap& figure, const std::string& path, const Lettering& lettering = Lettering::of_system());

// Lines of text (each with '\n'): title, panels side by side as far as they find room, a scale. Without colours cells
// are shades from light to dark (of a diverging map with a "-" before those below zero), or numbers if wanted; with
// colours (ANSI escape sequences) they are coloured. Cells that do not exist are blank, values that are not finite
// "??". No line has more than `width` columns, except for titles and labels that are longer. A panel has at most
// `height` rows. Throws Error unless width is 20 to 1000 and height 2 to 1000.
std::string terminal_text(const HeatMap& figure, int width = 72, int height = 40, bool colours = false);

}  // namespace orrery
