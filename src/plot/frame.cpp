#include "plot/frame.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace orrery {
namespace {

// All in pixels.
constexpr double kMargin = 20;
constexpr double kTickLength = 5;
constexpr double kGap = 9;  // between an axis, its numbers and its name
constexpr double kLegendRow = 24;
constexpr double kSampleWidth = 32;
constexpr double kSampleHeight = 12;
constexpr double kSmallestField = 60;
constexpr Words kTitle = {.size = 12, .is_bold = true};
constexpr Words kLabel = {.size = 10.5};
constexpr Words kNumber = {.size = 9, .colour = kQuiet};
constexpr Words kName = {.size = 9.75};

struct Place {
  size_t row = 0;
  double x = 0;  // from the field's left edge
};

struct Layout {
  Box field;
  std::vector<Place> legend;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;
};

double number_width(std::string_view label) { return words_width(label, kNumber); }

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, number_width(tick.label));
  return width;
}

double entry_width(const LegendEntry& entry) { return kSampleWidth + 8 + words_width(entry.name, kName); }

// From left to right, then the next row.
std::vector<Place> placed(const std::vector<LegendEntry>& legend, double width) {
  constexpr double kBetween = 26;
  std::vector<Place> places;
  Place next;
  for (const LegendEntry& entry : legend) {
    const double needed = entry_width(entry);
    if (next.x > 0 && next.x + needed > width) next = {next.row + 1, 0};
    places.push_back(next);
    next.x += needed + kBetween;
  }
  return places;
}

Layout laid_out(const Canvas& canvas, const Frame& frame) {
  Layout layout;
  double numbers = 0;  // width of the numbers at the y axis
  // Numbers need width, which the legend then lacks; more rows of it leave less height for numbers.
  for (int round = 0; round < 3; ++round) {
    Box& field = layout.field;
    field.left = kMargin + (frame.y_label.empty() ? 0 : kLabel.size + kGap) + numbers + kGap + kTickLength;
    field.right = canvas.width() - kMargin - 12;
    field.bottom = canvas.height() - kMargin - (frame.x_label.empty() ? 0 : kLabel.size + kGap) - kNumber.size - kGap -
                   kTickLength;
    layout.legend = placed(frame.legend, field.width());
    const double rows = layout.legend.empty() ? 0 : static_cast<double>(layout.legend.back().row) + 1;
    field.top = kMargin + (frame.title.empty() ? 0 : kTitle.size + 16) + rows * kLegendRow + (rows > 0 ? 4 : 0);
    layout.y_ticks = frame.y.ticks_that_fit(field.height(), 30, [](std::string_view) { return kNumber.size; });
    numbers = std::max(numbers, widest(layout.y_ticks));
  }
  layout.field = {std::round(layout.field.left), std::round(layout.field.top), std::round(layout.field.right),
                  std::round(layout.field.bottom)};
  layout.x_ticks = frame.x.ticks_that_fit(layout.field.width(), 30, number_width);
  return layout;
}

void line(Canvas& canvas, Point from, Point to, Colour colour) {
  const Point points[] = {from, to};
  canvas.stroke(points, {.colour = colour});
}

// On the middle of a pixel a line of one pixel is sharp.
double sharp(double coordinate) { return std::floor(coordinate) + 0.5; }

void draw_grid(Canvas& canvas, const Field& field, const Layout& layout) {
  const Box& box = field.box;
  // Fine lines first: those with numbers cross them.
  for (const bool is_labelled : {false, true}) {
    const Colour colour = is_labelled ? kGrid : kFineGrid;
    for (const Tick& tick : layout.x_ticks) {
      const double x = sharp(box.left + field.x.position(tick.value) * box.width());
      if (tick.label.empty() != is_labelled) line(canvas, {x, box.top}, {x, box.bottom}, colour);
    }
    for (const Tick& tick : layout.y_ticks) {
      const double y = sharp(box.bottom - field.y.position(tick.value) * box.height());
      if (tick.label.empty() != is_labelled) line(canvas, {box.left, y}, {box.right, y}, colour);
    }
  }
}

void draw_axes(Canvas& canvas, const Field& field, const Layout& layout) {
  const Box& box = field.box;
  const double left = box.left - 0.5;
  const double bottom = box.bottom + 0.5;
  line(canvas, {left, box.top}, {left, bottom}, kInk);
  line(canvas, {left, bottom}, {box.right, bottom}, kInk);
  Words number = kNumber;
  number.align = Align::center;
  for (const Tick& tick : layout.x_ticks) {
    const double x = sharp(box.left + field.x.position(tick.value) * box.width());
    line(canvas, {x, bottom}, {x, bottom + (tick.label.empty() ? 2 : kTickLength)}, kInk);
    canvas.write(tick.label, {x, bottom + kTickLength + kGap + kNumber.size - 2}, number);
  }
  number.align = Align::right;
  for (const Tick& tick : layout.y_ticks) {
    const double y = sharp(box.bottom - field.y.position(tick.value) * box.height());
    line(canvas, {left - (tick.label.empty() ? 2 : kTickLength), y}, {left, y}, kInk);
    canvas.write(tick.label, {left - kTickLength - 4, y + kNumber.size / 2 + 1}, number);
  }
}

void draw_words(Canvas& canvas, const Frame& frame, const Layout& layout) {
  const Box& box = layout.field;
  const double center = (box.left + box.right) / 2;
  canvas.write(frame.title, {box.left, kMargin + kTitle.size}, kTitle);
  Words label = kLabel;
  label.align = Align::center;
  canvas.write(frame.x_label, {center, canvas.height() - kMargin + 2}, label);
  label.is_upright = true;
  canvas.write(frame.y_label, {kMargin + kLabel.size, (box.top + box.bottom) / 2}, label);
  const double top = kMargin + (frame.title.empty() ? 0 : kTitle.size + 16);
  for (size_t i = 0; i < frame.legend.size(); ++i) {
    const double x = box.left + layout.legend[i].x;
    const double y = top + static_cast<double>(layout.legend[i].row) * kLegendRow;
    frame.legend[i].draw_sample(canvas, {x, y, x + kSampleWidth, y + kSampleHeight});
    canvas.write(frame.legend[i].name, {x + kSampleWidth + 8, y + kSampleHeight / 2 + kName.size / 2 + 1}, kName);
  }
}

}  // namespace

Point Field::at(double x_value, double y_value) const {
  return {box.left + x.position(x_value) * box.width(), box.bottom - y.position(y_value) * box.height()};
}

Field draw_frame(Canvas& canvas, const Frame& frame) {
  const Layout layout = laid_out(canvas, frame);
  if (std::min(layout.field.width(), layout.field.height()) < kSmallestField) {
    throw Error({.what = "the picture is too small for the figure's words",
                 .found = std::to_string(canvas.width()) + " x " + std::to_string(canvas.height()) + " pixels",
                 .hint = "make it larger, or the labels and the legend shorter"});
  }
  const Field field = {layout.field, frame.x, frame.y};
  draw_grid(canvas, field, layout);
  draw_axes(canvas, field, layout);
  draw_words(canvas, frame, layout);
  return field;
}

}  // namespace orrery
