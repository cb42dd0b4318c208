#include "plot/frame_layout.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kLineHeight = kNumberWords.size * 1.5;

double widest(const Canvas& canvas, const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, canvas.width_of(tick.label, kNumberWords));
  return width;
}

Side left_side(const Canvas& canvas, const FrameAxis& y, double height) {
  if (!y.names.empty()) return side_of_names(canvas, y.names, height, canvas.width() * 0.4, true);
  Side side = {.ticks = y.axis.ticks_that_fit(height, 26, [](std::string_view) { return kNumberWords.size; })};
  side.depth = widest(canvas, side.ticks);
  return side;
}

Side bottom_side(const Canvas& canvas, const FrameAxis& x, double width) {
  if (!x.names.empty()) return side_of_names(canvas, x.names, width, canvas.height() * 0.3, false);
  const auto size_of = [&](std::string_view label) { return canvas.width_of(label, kNumberWords); };
  return {.ticks = x.axis.ticks_that_fit(width, 28, size_of), .depth = kNumberWords.size};
}

// How far the labels below the field reach beyond its right edge.
double beyond_right(const Canvas& canvas, const Side& side, const Axis& axis, double width) {
  double beyond = 0;
  for (const Tick& tick : side.ticks) {
    const double half = side.is_upright ? kNumberWords.size / 2 : canvas.width_of(tick.label, kNumberWords) / 2;
    beyond = std::max(beyond, axis.position(tick.value) * width + half - width);
  }
  return beyond;
}

}  // namespace

Side side_of_names(const Canvas& canvas, const std::vector<std::string>& names, double length, double longest,
                   bool is_left) {
  Side side = {.has_names = true};
  const double slot = length / static_cast<double>(names.size());
  for (const std::string& name : names) {
    side.is_upright = side.is_upright || (!is_left && canvas.width_of(name, kNumberWords) > slot - kGap);
  }
  const bool is_stacked = is_left || side.is_upright;  // one line of text needs little of the length then
  const size_t every = is_stacked ? static_cast<size_t>(std::max(1.0, std::ceil(kLineHeight / slot))) : 1;
  for (size_t i = 0; i < names.size(); i += every) {
    const double middle = static_cast<double>(i) + 0.5;
    side.ticks.push_back({is_left ? static_cast<double>(names.size()) - middle : middle,
                          canvas.shortened(names[i], kNumberWords, is_stacked ? longest : slot)});
  }
  side.depth = is_stacked ? widest(canvas, side.ticks) : kNumberWords.size;
  return side;
}

void write_below(Canvas& canvas, const Box& field, const Axis& axis, const Side& side) {
  Words words = kNumberWords;
  words.align = side.is_upright ? Align::right : Align::center;
  words.is_upright = side.is_upright;
  const double top = field.bottom + kTickLength + kGap - 2;
  for (const Tick& tick : side.ticks) {
    const double x = sharp(field.left + axis.position(tick.value) * field.width());
    const Point at = side.is_upright ? Point{x + words.size / 2, top - 4} : Point{x, top + words.size};
    canvas.write(tick.label, at, words);
  }
}

void write_beside(Canvas& canvas, const Box& field, const Axis& axis, const Side& side) {
  Words words = kNumberWords;
  words.align = Align::right;
  for (const Tick& tick : side.ticks) {
    const double y = sharp(field.bottom - axis.position(tick.value) * field.height());
    canvas.write(tick.label, {field.left - kTickLength - 5, y + words.size / 2}, words);
  }
}

Layout laid_out(const Canvas& canvas, const Frame& frame) {
  Layout layout;
  double y_depth = 0;
  double x_depth = kNumberWords.size;
  double beyond = 12;
  layout.legend_top = kMargin + (frame.title.empty() ? 0 : kTitleWords.size + 17);
  // Numbers need width, which the legend then lacks; more rows of it leave less height for numbers.
  for (int round = 0; round < 3; ++round) {
    Box& field = layout.field;
    const auto label_size = [](const std::string& label) { return label.empty() ? 0 : kLabelWords.size + kGap; };
    field.left = std::round(kMargin + label_size(frame.y.label) + y_depth + kGap + kTickLength);
    field.right = std::round(canvas.width() - kMargin - beyond);
    field.bottom = std::round(canvas.height() - kMargin - label_size(frame.x.label) - x_depth - kGap - kTickLength);
    const double legend = legend_height(canvas, frame.legend, field.width());
    field.top = std::round(layout.legend_top + legend + (legend > 0 ? 6 : 0));
    if (std::min(field.width(), field.height()) <= 0) return layout;  // draw_frame says that this is too small
    layout.y = left_side(canvas, frame.y, field.height());
    layout.x = bottom_side(canvas, frame.x, field.width());
    y_depth = std::max(y_depth, layout.y.depth);
    x_depth = layout.x.depth;
    beyond = std::max(beyond, beyond_right(canvas, layout.x, frame.x.axis, field.width()));
  }
  return layout;
}

}  // namespace orrery
