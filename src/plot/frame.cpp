#include "plot/frame.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plot/frame_layout.h"

namespace orrery {
namespace {

// All in pixels.
constexpr double kLegendRow = 28;
constexpr double kSampleWidth = 32;
constexpr double kSampleHeight = 14;
constexpr double kSampleGap = 9;  // before the name
constexpr double kSmallestField = 60;

struct Place {
  size_t row = 0;
  double x = 0;  // from the field's left edge
};

// From left to right, then the next row.
std::vector<Place> placed(const Canvas& canvas, const std::vector<LegendEntry>& legend, double width) {
  constexpr double kBetween = 26;
  std::vector<Place> places;
  Place next;
  for (const LegendEntry& entry : legend) {
    const double needed = kSampleWidth + kSampleGap + canvas.width_of(entry.name, kNameWords);
    if (next.x > 0 && next.x + needed > width) next = {next.row + 1, 0};
    places.push_back(next);
    next.x += needed + kBetween;
  }
  return places;
}

void line(Canvas& canvas, Point from, Point to, Colour colour) {
  const Point points[] = {from, to};
  canvas.stroke(points, {.colour = colour});
}

void draw_grid(Canvas& canvas, const Field& field, const Layout& layout) {
  const Box& box = field.box;
  // Fine lines first: those with numbers cross them.
  for (const bool is_labelled : {false, true}) {
    const Colour colour = is_labelled ? kGrid : kFineGrid;
    for (const Tick& tick : layout.x.ticks) {
      const double x = sharp(box.left + field.x.position(tick.value) * box.width());
      if (!layout.x.has_names && tick.label.empty() != is_labelled) line(canvas, {x, box.top}, {x, box.bottom}, colour);
    }
    for (const Tick& tick : layout.y.ticks) {
      const double y = sharp(box.bottom - field.y.position(tick.value) * box.height());
      if (!layout.y.has_names && tick.label.empty() != is_labelled) line(canvas, {box.left, y}, {box.right, y}, colour);
    }
  }
}

void draw_axes(Canvas& canvas, const Field& field, const Layout& layout) {
  const Box& box = field.box;
  const double left = box.left - 0.5;
  const double bottom = box.bottom + 0.5;
  line(canvas, {left, box.top}, {left, bottom}, kInk);
  line(canvas, {left, bottom}, {box.right, bottom}, kInk);
  const auto tick_length = [](const Side& side, const Tick& tick) {
    return side.has_names ? 0 : tick.label.empty() ? 2 : kTickLength;
  };
  for (const Tick& tick : layout.x.ticks) {
    const double x = sharp(box.left + field.x.position(tick.value) * box.width());
    line(canvas, {x, bottom}, {x, bottom + tick_length(layout.x, tick)}, kInk);
  }
  for (const Tick& tick : layout.y.ticks) {
    const double y = sharp(box.bottom - field.y.position(tick.value) * box.height());
    line(canvas, {left - tick_length(layout.y, tick), y}, {left, y}, kInk);
  }
  write_below(canvas, box, field.x, layout.x);
  write_beside(canvas, box, field.y, layout.y);
}

void draw_words(Canvas& canvas, const Frame& frame, const Layout& layout) {
  const Box& box = layout.field;
  const double center = (box.left + box.right) / 2;
  // A title that is wider than the field begins at the picture's edge.
  const double whole = canvas.width() - 2 * kMargin;
  const bool is_wide = canvas.width_of(frame.title, kTitleWords) > box.width();
  canvas.write(canvas.shortened(frame.title, kTitleWords, whole),
               {is_wide ? kMargin : box.left, kMargin + kTitleWords.size}, kTitleWords);
  Words label = kLabelWords;
  label.align = Align::center;
  canvas.write(canvas.shortened(frame.x.label, label, box.width()), {center, canvas.height() - kMargin - 1}, label);
  label.is_upright = true;
  canvas.write(canvas.shortened(frame.y.label, label, box.height()), {kMargin + label.size, (box.top + box.bottom) / 2},
               label);
  draw_legend(canvas, frame.legend, {box.left, layout.legend_top}, box.width());
}

}  // namespace

double sharp(double coordinate) { return std::floor(coordinate) + 0.5; }

LegendEntry filled_entry(const std::string& name, Colour colour) {
  return {name, [colour](Canvas& canvas, const Box& box) {
            canvas.fill({box.left, box.top, box.right - 4, box.bottom}, colour);
          }};
}

LegendEntry level_entry(const std::string& name) {
  return {name, [](Canvas& canvas, const Box& box) {
            const double middle = std::floor((box.top + box.bottom) / 2);
            const Point points[] = {{box.left, middle}, {box.right, middle}};
            canvas.stroke(points, kLevelPen);
          }};
}

FrameAxis axis_of_names(const std::string& label, const std::vector<std::string>& names) {
  return {label, Axis(Scale::linear, 0, std::max(1.0, static_cast<double>(names.size()))), names};
}

Point Field::at(double x_value, double y_value) const {
  return {box.left + x.position(x_value) * box.width(), box.bottom - y.position(y_value) * box.height()};
}

Box Field::column(size_t index, double share) const {
  const double width = box.width() / x.high();
  const double left = box.left + (static_cast<double>(index) + 0.5 - share / 2) * width;
  return {left, box.top, left + width * share, box.bottom};
}

Box Field::row(size_t index, double share) const {
  const double height = box.height() / y.high();
  const double top = box.top + (static_cast<double>(index) + 0.5 - share / 2) * height;
  return {box.left, top, box.right, top + height * share};
}

double legend_height(const Canvas& canvas, const std::vector<LegendEntry>& legend, double width) {
  const std::vector<Place> places = placed(canvas, legend, width);
  return places.empty() ? 0 : (static_cast<double>(places.back().row) + 1) * kLegendRow;
}

double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& legend, Point top_left, double width) {
  const std::vector<Place> places = placed(canvas, legend, width);
  for (size_t i = 0; i < legend.size(); ++i) {
    const double x = top_left.x + places[i].x;
    const double y = top_left.y + static_cast<double>(places[i].row) * kLegendRow;
    legend[i].draw_sample(canvas, {x, y, x + kSampleWidth, y + kSampleHeight});
    const double room = width - kSampleWidth - kSampleGap;
    canvas.write(canvas.shortened(legend[i].name, kNameWords, room),
                 {x + kSampleWidth + kSampleGap, y + kSampleHeight / 2 + kNameWords.size / 2}, kNameWords);
  }
  return legend_height(canvas, legend, width);
}

Field draw_frame(Canvas& canvas, const Frame& frame) {
  const Layout layout = laid_out(canvas, frame);
  if (std::min(layout.field.width(), layout.field.height()) < kSmallestField) {
    throw Error({.what = "the picture is too small for the figure's words",
                 .found = std::to_string(canvas.width()) + " x " + std::to_string(canvas.height()) + " pixels",
                 .hint = "make it larger, or the labels and the legend shorter"});
  }
  const Field field = {layout.field, frame.x.axis, frame.y.axis};
  draw_grid(canvas, field, layout);
  draw_axes(canvas, field, layout);
  draw_words(canvas, frame, layout);
  return field;
}

void draw_level(Canvas& canvas, const Field& field, double y) {
  const double at = field.at(field.x.low(), y).y;
  const Point points[] = {{field.box.left, at}, {field.box.right, at}};
  canvas.stroke(points, kLevelPen);
}

void draw_moment(Canvas& canvas, const Field& field, double x) {
  const double at = field.at(x, field.y.low()).x;
  const Point points[] = {{at, field.box.bottom}, {at, field.box.top}};
  canvas.stroke(points, kLevelPen);
}

}  // namespace orrery
