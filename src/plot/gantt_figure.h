// Who works on what, and when: rows of blocks over time, as a PNG file and for the terminal.
#pragma once

#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/level.h"

namespace orrery {

struct Block {
  size_t worker = 0;  // in GanttFigure::workers
  double start = 0;
  double end = 0;
  std::string label = {};  // in the block, where it finds room
  size_t kind = 0;         // in GanttFigure::kinds: its colour
};

struct GanttFigure {
  std::string title = {};
  AxisOptions time = {};  // linear
  std::vector<std::string> workers = {};
  std::vector<std::string> kinds = {};  // for the legend; empty: no legend
  std::vector<Block> blocks = {};       // later ones are drawn over earlier ones
  std::vector<Moment> moments = {};
  bool has_shares = false;  // how much of the time a worker is busy, after its name
  int width = 960;          // pixels of the PNG
  int height = 0;           // 0: as the workers need it
};

// All three throw Error where a block has no worker or no kind, is not finite or ends before it starts, or where the
// time is logarithmic or its range is none. Where a worker has no block between the first start and the last end, it is
// idle.

// The same figure gives the same pixels for the same fonts. Throws Error also where the picture is too small for the
// words.
Canvas drawn(const GanttFigure& figure, const Lettering& lettering = {});
void write_png(const GanttFigure& figure, const std::string& path, const Lettering& lettering = Lettering::of_system());

// Lines of text (each with '\n'): title, a line for each worker, numbers, name of the time, legend. Each character is
// the block at its middle; idle time is dots. Without colours kinds differ by their characters. Throws Error unless
// width is 20 to 1000.
std::string terminal_text(const GanttFigure& figure, int width = 72, bool colours = false);

}  // namespace orrery
