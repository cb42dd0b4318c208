// What figures with two axes share: title, legend, grid, axes and their words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/level.h"

namespace orrery {

// The words of a figure, in pixels. In a picture 960 pixels wide they are as large as those of a book when it is
// printed across a page, and can still be read on a telephone that shows it 360 points wide.
inline constexpr Words kTitleWords = {.size = 18, .is_bold = true};
inline constexpr Words kLabelWords = {.size = 15.5};
inline constexpr Words kNumberWords = {.size = 15, .colour = kQuiet};
inline constexpr Words kNameWords = {.size = 15};
inline constexpr double kMargin = 20;
inline constexpr Pen kLevelPen = {.colour = kQuiet, .width = 1.6, .dash = 7, .gap = 5};

struct LegendEntry {
  std::string name;
  std::function<void(Canvas&, const Box&)> draw_sample;  // into a box of 32 by 14 pixels
};
LegendEntry filled_entry(const std::string& name, Colour colour);
LegendEntry level_entry(const std::string& name);

// One of a frame's axes: of numbers, or of names.
struct FrameAxis {
  std::string label = {};
  Axis axis;
  // In place of numbers, if not empty: one in the middle of each unit, from 0 to the number of names. At the left side
  // the first name stands at the top.
  std::vector<std::string> names = {};
};
FrameAxis axis_of_names(const std::string& label, const std::vector<std::string>& names);

struct Frame {
  std::string title;
  FrameAxis x;
  FrameAxis y;
  std::vector<LegendEntry> legend = {};  // stands above the field, where it hides nothing
};

// Where the data goes.
struct Field {
  Box box;
  Axis x;
  Axis y;
  Point at(double x_value, double y_value) const;  // a point that is not finite where an axis cannot show the value
  // The strip of a name, across the whole field; the middle `share` of it.
  Box column(size_t index, double share = 1) const;
  Box row(size_t index, double share = 1) const;
};

// Throws Error where the canvas is too small for the words. Words that are too long end in "...".
Field draw_frame(Canvas& canvas, const Frame& frame);
void draw_level(Canvas& canvas, const Field& field, double y);
void draw_moment(Canvas& canvas, const Field& field, double x);
// Over all that is drawn: the points, and the names of both beside them where they hide the least.
void draw_names(Canvas& canvas, const Field& field, const std::vector<Moment>& moments,
                const std::vector<MarkedPoint>& points);
// The legend alone, from a point on; returns its height.
double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& legend, Point top_left, double width);
double legend_height(const Canvas& canvas, const std::vector<LegendEntry>& legend, double width);
// On the middle of a pixel a line of one pixel is sharp.
double sharp(double coordinate);

}  // namespace orrery
