#include "plot/line_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "plot/frame.h"
#include "plot/line_figure_parts.h"

namespace orrery {
namespace {

constexpr double kLineWidth = 2.5;  // wide enough that one pixel is covered in full
constexpr double kMarkSize = 8;
constexpr double kHalo = 3;
constexpr double kPaleWidth = 1;
constexpr double kPaleOpacity = 0.35;

std::vector<Point> points_of(const Series& series, const Field& field) {
  std::vector<Point> points;
  points.reserve(series.x.size());
  for (size_t i = 0; i < series.x.size(); ++i) points.push_back(field.at(series.x[i], series.y[i]));
  return points;
}

Pen pen_of(const Series& series, Colour colour) {
  if (series.style == Style::dashed) return {.colour = colour, .width = kLineWidth, .dash = 10, .gap = 6};
  return {.colour = colour, .width = kLineWidth};
}

void draw_marks(Canvas& canvas, const std::vector<Point>& points, size_t index, double size, Colour colour) {
  for (const Point point : points) {
    if (is_finite(point)) canvas.mark(point, series_marker(index), size, colour);
  }
}

// Marks at the edge of the field are drawn whole, those of points outside not at all.
void draw_marks_in(const Field& field, Canvas& canvas, const std::vector<Point>& points, size_t index, bool has_rim) {
  std::vector<Point> inside;
  for (const Point point : points) {
    if (!visible_part(point, point, field.box).is_empty()) inside.push_back(point);
  }
  canvas.clip_to_all();
  if (has_rim) draw_marks(canvas, inside, index, kMarkSize + kHalo, kWhite);
  draw_marks(canvas, inside, index, kMarkSize, series_colour(index));
  canvas.clip_to(field.box);
}

void draw(Canvas& canvas, const Series& series, size_t index, const Field& field) {
  const Colour colour = series_colour(index);
  const std::vector<Point> points = points_of(series, field);
  if (series.style == Style::points) return draw_marks_in(field, canvas, points, index, false);
  if (series.style == Style::noisy) {
    canvas.stroke(thinned(points), {.colour = colour, .width = kPaleWidth, .opacity = kPaleOpacity});
    canvas.stroke(thinned(points_of(smoothed(series, window_of(series)), field)), pen_of(series, colour));
    return;
  }
  canvas.stroke(thinned(points), pen_of(series, colour));
  // A white rim keeps the marks apart from other lines.
  if (series.style == Style::line_and_points) draw_marks_in(field, canvas, points, index, true);
}

// The sample of the legend.
void draw_sample(Canvas& canvas, const Series& series, size_t index, const Box& box) {
  const double middle = (box.top + box.bottom) / 2;
  const Point line[] = {{box.left + 2, middle}, {box.right - 2, middle}};
  const Colour colour = series_colour(index);
  if (series.style == Style::noisy) canvas.fill({box.left, box.top, box.right, box.bottom}, colour, kPaleOpacity);
  if (series.style != Style::points) canvas.stroke(line, pen_of(series, colour));
  if (series.style != Style::points && series.style != Style::line_and_points) return;
  draw_marks(canvas, {{(box.left + box.right) / 2, middle}}, index, kMarkSize, colour);
}

std::vector<LegendEntry> legend_of(const LineFigure& figure) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (series.name.empty()) continue;
    legend.push_back(
        {legend_name(series), [&series, i](Canvas& canvas, const Box& box) { draw_sample(canvas, series, i, box); }});
  }
  for (const Level& level : figure.levels) {
    if (!level.name.empty()) legend.push_back(level_entry(level.name));
  }
  return legend;
}

}  // namespace

void check(const LineFigure& figure) {
  for (const Series& series : figure.series) {
    if (series.x.size() == series.y.size()) continue;
    throw Error({.what = "a series needs as many x as y",
                 .where = series.name,
                 .expected = std::to_string(series.x.size()) + " values of y",
                 .found = std::to_string(series.y.size())});
  }
}

Axes axes_of(const LineFigure& figure) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Series& series : figure.series) {
    for (size_t i = 0; i < series.x.size(); ++i) {
      // A point that cannot be drawn shall not widen an axis.
      if (!can_show(figure.x.scale, series.x[i]) || !can_show(figure.y.scale, series.y[i])) continue;
      x.push_back(series.x[i]);
      y.push_back(series.y[i]);
    }
  }
  for (const Level& level : figure.levels) y.push_back(level.y);
  for (const Moment& moment : figure.moments) x.push_back(moment.x);
  for (const MarkedPoint& point : figure.points) {
    if (!can_show(figure.x.scale, point.x) || !can_show(figure.y.scale, point.y)) continue;
    x.push_back(point.x);
    y.push_back(point.y);
  }
  return {Axis::around(x, figure.x), Axis::around(y, figure.y)};
}

std::string legend_name(const Series& series) {
  if (series.style != Style::noisy || window_of(series) == 1) return series.name;
  return series.name + " (mean of " + std::to_string(window_of(series)) + ")";
}

Canvas drawn(const LineFigure& figure, const Lettering& lettering) {
  check(figure);
  Canvas canvas(figure.width, figure.height, lettering);
  const Axes axes = axes_of(figure);
  const Field field =
      draw_frame(canvas, {figure.title, {figure.x.label, axes.x}, {figure.y.label, axes.y}, legend_of(figure)});
  canvas.clip_to(field.box);
  for (const Level& level : figure.levels) draw_level(canvas, field, level.y);
  for (const Moment& moment : figure.moments) draw_moment(canvas, field, moment.x);
  for (size_t i = 0; i < figure.series.size(); ++i) draw(canvas, figure.series[i], i, field);
  canvas.clip_to_all();
  draw_names(canvas, field, figure.moments, figure.points);
  return canvas;
}

void write_png(const LineFigure& figure, const std::string& path, const Lettering& lettering) {
  write_png(drawn(figure, lettering), path);
}

}  // namespace orrery
