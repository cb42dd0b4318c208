#include "plot/bar_figure.h"

#include <algorithm>
#include <cmath>

#include "plot/bar_figure_parts.h"
#include "plot/frame.h"

namespace orrery {
namespace {

constexpr double kMarkSize = 13;
constexpr double kGroup = 0.76;  // of a name's strip; the rest keeps the groups apart
constexpr double kNumberGap = 7;
constexpr Words kValueWords = {.size = 13.5};

int height_of(const BarFigure& figure) {
  if (figure.height != 0) return figure.height;
  if (!figure.is_horizontal) return 540;
  const bool is_grouped = figure.style == BarStyle::grouped;
  const double bars = is_grouped ? std::max<double>(1, static_cast<double>(figure.series.size())) : 1;
  const double strip = std::max(36.0, 24 * bars + 10);
  return static_cast<int>(std::clamp(200 + strip * static_cast<double>(figure.names.size()), 260.0, 2400.0));
}

std::vector<LegendEntry> legend_of(const BarFigure& figure) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < figure.series.size(); ++i) {
    const std::string& name = figure.series[i].name;
    if (name.empty()) continue;
    if (figure.style != BarStyle::points) {
      legend.push_back(filled_entry(name, series_colour(i)));
      continue;
    }
    legend.push_back({name, [i](Canvas& canvas, const Box& box) {
                        const Point center = {(box.left + box.right) / 2, (box.top + box.bottom) / 2};
                        canvas.mark(center, series_marker(i), kMarkSize, series_colour(i));
                      }});
  }
  for (const Level& level : figure.levels) {
    if (!level.name.empty()) legend.push_back(level_entry(level.name));
  }
  return legend;
}

// Bars along x or along y: one code for both.
class BarsOnField {
 public:
  BarsOnField(const BarFigure& figure, const Axis& values, const Field& field, Canvas& canvas)
      : figure_(figure), values_(values), field_(field), canvas_(canvas) {}

  void draw_bar(const Bar& bar) const {
    const Box box = box_of(bar);
    const bool is_stacked = figure_.style == BarStyle::stacked;
    if (figure_.style == BarStyle::points) {
      const Point from =
          figure_.is_horizontal ? Point{field_.box.left, middle(box).y} : Point{middle(box).x, field_.box.bottom};
      const Point line[] = {from, end_of(bar, box)};
      canvas_.stroke(line, {.colour = kGrid, .width = 2});
      return;
    }
    canvas_.fill(box, series_colour(bar.series));
    if (!is_stacked) return;
    // A fine white line keeps neighbours apart whatever their colours.
    const Point corner = end_of(bar, box);
    const Point other = figure_.is_horizontal ? Point{corner.x, box.top} : Point{box.left, corner.y};
    const Point far = figure_.is_horizontal ? Point{corner.x, box.bottom} : Point{box.right, corner.y};
    const Point line[] = {other, far};
    canvas_.stroke(line, {.colour = kWhite, .width = 1.5});
  }

  void draw_mark(const Bar& bar) const {
    const Point at = end_of(bar, box_of(bar));
    if (visible_part(at, at, field_.box).is_empty()) return;
    canvas_.mark(at, series_marker(bar.series), kMarkSize + 3, kWhite);
    canvas_.mark(at, series_marker(bar.series), kMarkSize, series_colour(bar.series));
  }

  // Beyond the end of the bar, or before it where there is no room. One that is wider than a bar that stands is left
  // out.
  void draw_number(const Bar& bar, double value) const {
    const std::string text = short_number(value);
    const Box box = box_of(bar);
    const Point end = end_of(bar, box);
    if (visible_part(end, end, field_.box).is_empty()) return;
    const double width = canvas_.width_of(text, kValueWords);
    const double size = kValueWords.size;
    const bool is_down = value < 0;
    const double away = kNumberGap + (figure_.style == BarStyle::points ? kMarkSize / 2 : 0);
    Words words = kValueWords;
    Point at;
    bool fits = true;
    if (figure_.is_horizontal) {
      const double begin = is_down ? end.x - away - width : end.x + away;
      fits = begin >= field_.box.left && begin + width <= canvas_.width() - 4;
      const double inside = is_down ? end.x + kNumberGap : end.x - kNumberGap - width;
      at = {fits ? begin : inside, middle(box).y + size / 2};
      if (box.height() < size) return;
    } else {
      const double baseline = is_down ? end.y + away + size : end.y - away;
      fits = baseline - size >= field_.box.top - 2 && baseline <= field_.box.bottom;
      at = {middle(box).x - width / 2, fits ? baseline : is_down ? end.y - kNumberGap : end.y + kNumberGap + size};
      if (width > box.width() * (figure_.style == BarStyle::grouped && figure_.series.size() > 1 ? 1.1 : 1.3)) return;
    }
    // Lines must not cross the number.
    if (fits) canvas_.fill({at.x - 3, at.y - size - 3, at.x + width + 3, at.y + 3}, kWhite, 0.8);
    if (!fits && figure_.style != BarStyle::points) words.colour = words_on(series_colour(bar.series));
    canvas_.write(text, at, words);
  }

  void draw_zero() const {
    const double zero = values_.position(0);
    if (!(zero > 0 && zero < 1)) return;
    const Box& box = field_.box;
    const double x = sharp(box.left + zero * box.width());
    const double y = sharp(box.bottom - zero * box.height());
    const Point across_rows[] = {{x, box.top}, {x, box.bottom}};
    const Point across_columns[] = {{box.left, y}, {box.right, y}};
    if (figure_.is_horizontal) canvas_.stroke(across_rows, {});
    if (!figure_.is_horizontal) canvas_.stroke(across_columns, {});
  }

 private:
  const BarFigure& figure_;
  const Axis& values_;
  const Field& field_;
  Canvas& canvas_;

  static Point middle(const Box& box) { return {(box.left + box.right) / 2, (box.top + box.bottom) / 2}; }

  Point end_of(const Bar& bar, const Box& box) const {
    const double to = values_.position(bar.to);
    if (figure_.is_horizontal) return {field_.box.left + to * field_.box.width(), middle(box).y};
    return {middle(box).x, field_.box.bottom - to * field_.box.height()};
  }

  Box box_of(const Bar& bar) const {
    const double from = values_.position(bar.from);
    const double to = values_.position(bar.to);
    const double low = std::min(from, to);
    const double high = std::max(from, to);
    Box box = figure_.is_horizontal ? field_.row(bar.name, kGroup) : field_.column(bar.name, kGroup);
    const bool is_grouped = figure_.style == BarStyle::grouped;
    const double parts = is_grouped ? static_cast<double>(figure_.series.size()) : 1;
    const double part = is_grouped ? static_cast<double>(bar.series) : 0;
    if (figure_.is_horizontal) {
      const double size = box.height() / parts;
      return {field_.box.left + low * field_.box.width(), box.top + part * size,
              field_.box.left + high * field_.box.width(), box.top + (part + 1) * size};
    }
    const double size = box.width() / parts;
    return {box.left + part * size, field_.box.bottom - high * field_.box.height(), box.left + (part + 1) * size,
            field_.box.bottom - low * field_.box.height()};
  }
};

}  // namespace

Canvas drawn(const BarFigure& figure, const Lettering& lettering) {
  check(figure);
  Canvas canvas(figure.width, height_of(figure), lettering);
  const Axis values = values_axis(figure, figure.has_numbers ? (figure.is_horizontal ? 0.12 : 0.07) : 0.02);
  const FrameAxis names = axis_of_names(figure.names_label, figure.names);
  const FrameAxis numbers = {figure.values.label, values};
  const bool is_horizontal = figure.is_horizontal;
  const Field field = draw_frame(
      canvas, {figure.title, is_horizontal ? numbers : names, is_horizontal ? names : numbers, legend_of(figure)});
  const BarsOnField bars_on(figure, values, field, canvas);
  const std::vector<Bar> bars = bars_of(figure, values);
  canvas.clip_to(field.box);
  for (const Bar& bar : bars) bars_on.draw_bar(bar);
  for (const Level& level : figure.levels) {
    if (is_horizontal) draw_moment(canvas, field, level.y);
    if (!is_horizontal) draw_level(canvas, field, level.y);
  }
  canvas.clip_to_all();
  bars_on.draw_zero();
  for (const Bar& bar : bars) {
    if (figure.style == BarStyle::points) bars_on.draw_mark(bar);
    if (figure.has_numbers && figure.style != BarStyle::stacked) bars_on.draw_number(bar, bar.to);
  }
  // Of a stack one number: at the end of its last bar that points away from zero as the sum does.
  for (size_t i = 0; i < bars.size() && figure.has_numbers && figure.style == BarStyle::stacked; ++i) {
    const double sum = sum_of(figure, bars[i].name);
    bool is_last = (bars[i].to < 0) == (sum < 0);
    for (size_t j = i + 1; j < bars.size() && bars[j].name == bars[i].name; ++j) {
      is_last = is_last && (bars[j].to < 0) != (sum < 0);
    }
    if (is_last) bars_on.draw_number(bars[i], sum);
  }
  return canvas;
}

void write_png(const BarFigure& figure, const std::string& path, const Lettering& lettering) {
  write_png(drawn(figure, lettering), path);
}

}  // namespace orrery
