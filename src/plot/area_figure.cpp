#include "plot/area_figure.h"

#include <algorithm>
#include <cmath>

#include "plot/character_field.h"
#include "plot/frame.h"
#include "plot/stack.h"
#include "plot/terminal_frame.h"

namespace orrery {
namespace {

constexpr int kLevelColour = 244;

struct Axes {
  Axis x;
  Axis y;
};

Axes axes_of(const AreaFigure& figure, const Stack& stack) {
  std::vector<double> x = figure.x;
  std::vector<double> y = {0};
  if (!figure.areas.empty()) y.insert(y.end(), stack.sums().begin(), stack.sums().end());
  for (const Level& level : figure.levels) y.push_back(level.y);
  AxisOptions x_axis = figure.x_axis;
  // The areas shall fill the field from its first to its last x.
  if (x.size() > 1 && x.back() - x.front() > 1e-290 && figure.moments.empty() && can_show(x_axis.scale, x.front()) &&
      std::max(-x.front(), x.back()) < 1e280) {
    if (!x_axis.low) x_axis.low = x.front();
    if (!x_axis.high) x_axis.high = x.back();
    if (!(*x_axis.low < *x_axis.high)) x_axis = figure.x_axis;
  }
  for (const Moment& moment : figure.moments) x.push_back(moment.x);
  return {Axis::around(x, x_axis), Axis::around(y, figure.y_axis)};
}

// The value that stands at a share of an axis.
double value_at(const Axis& axis, double share) {
  if (axis.scale() == Scale::linear) return axis.low() + share * (axis.high() - axis.low());
  return axis.low() * std::pow(axis.high() / axis.low(), share);
}

std::vector<LegendEntry> legend_of(const AreaFigure& figure) {
  std::vector<LegendEntry> legend;
  // As they lie in the picture: the uppermost comes first.
  for (size_t i = figure.areas.size(); i-- > 0;) {
    if (!figure.areas[i].name.empty()) legend.push_back(filled_entry(figure.areas[i].name, series_colour(i)));
  }
  for (const Level& level : figure.levels) {
    if (!level.name.empty()) legend.push_back(level_entry(level.name));
  }
  return legend;
}

// One column of pixels after the other.
void draw_areas(Canvas& canvas, const AreaFigure& figure, const Stack& stack, const Field& field) {
  const Box& box = field.box;
  std::vector<std::vector<Point>> edges(figure.areas.size());
  for (double column = box.left; column < box.right; ++column) {
    const double from = value_at(field.x, (column - box.left) / box.width());
    const double to = value_at(field.x, (column + 1 - box.left) / box.width());
    double below = box.bottom - std::clamp(field.y.position(0), 0.0, 1.0) * box.height();
    for (size_t i = 0; i < figure.areas.size(); ++i) {
      const double top = box.bottom - field.y.position(stack.top(i, from, to)) * box.height();
      edges[i].push_back({column + 0.5, top});
      if (!std::isfinite(top)) continue;
      canvas.fill({column, top, column + 1, below}, series_colour(i));
      below = std::min(below, top);
    }
  }
  // A fine white line keeps neighbours apart whatever their colours. Above the uppermost one it would hide narrow
  // peaks.
  for (size_t i = 0; i + 1 < edges.size(); ++i) canvas.stroke(edges[i], {.colour = kWhite, .width = 1.5});
}

// The area at a place, or as many as there are.
size_t area_at(const AreaFigure& figure, const Stack& stack, double from, double to, double y) {
  for (size_t i = 0; i < figure.areas.size() && y >= 0; ++i) {
    if (y < stack.top(i, from, to)) return i;
  }
  return figure.areas.size();
}

std::vector<TerminalEntry> terminal_legend(const AreaFigure& figure, bool colours) {
  std::vector<TerminalEntry> legend;
  for (size_t i = figure.areas.size(); i-- > 0;) {
    const Filling fill = filling(i, colours);
    if (!figure.areas[i].name.empty()) legend.push_back({repeated(fill.mark, 2), figure.areas[i].name, fill.colour});
  }
  for (const Level& level : figure.levels) {
    if (!level.name.empty()) legend.push_back({"\u2504\u2504", level.name, kLevelColour});
  }
  for (const Moment& moment : figure.moments) {
    if (moment.name.empty()) continue;
    legend.push_back({"\u250a", moment.name + " (" + short_number(moment.x) + ")", kLevelColour});
  }
  return legend;
}

}  // namespace

Canvas drawn(const AreaFigure& figure, const Lettering& lettering) {
  check(figure);
  const Stack stack(figure);
  const Axes axes = axes_of(figure, stack);
  Canvas canvas(figure.width, figure.height, lettering);
  const Field field = draw_frame(
      canvas, {figure.title, {figure.x_axis.label, axes.x}, {figure.y_axis.label, axes.y}, legend_of(figure)});
  canvas.clip_to(field.box);
  draw_areas(canvas, figure, stack, field);
  for (const Level& level : figure.levels) draw_level(canvas, field, level.y);
  for (const Moment& moment : figure.moments) draw_moment(canvas, field, moment.x);
  canvas.clip_to_all();
  draw_names(canvas, field, figure.moments, {});
  return canvas;
}

void write_png(const AreaFigure& figure, const std::string& path, const Lettering& lettering) {
  write_png(drawn(figure, lettering), path);
}

std::string terminal_text(const AreaFigure& figure, int width, int height, bool colours) {
  check(figure);
  const Stack stack(figure);
  const Axes axes = axes_of(figure, stack);
  const TerminalFrame frame({figure.title, {figure.x_axis.label, axes.x}, {figure.y_axis.label, axes.y}}, width, height,
                            colours);
  CharacterField field(frame.columns(), height);
  const int others = static_cast<int>(figure.areas.size());
  for (int column = 0; column < frame.columns(); ++column) {
    const double from = value_at(axes.x, static_cast<double>(column) / frame.columns());
    const double to = value_at(axes.x, (column + 1.0) / frame.columns());
    for (int row = 0; row < height; ++row) {
      const double y = value_at(axes.y, (height - row - 0.5) / height);
      const size_t area = area_at(figure, stack, from, to, y);
      const Point cell = {2.0 * column, 4.0 * row};
      if (area < figure.areas.size()) field.dot(cell, static_cast<int>(area), filling(area, colours).mark);
    }
  }
  for (const Level& level : figure.levels) {
    const double y = field.dot_rows() - across(axes.y, level.y, field.dot_rows());
    field.line({0, y}, {static_cast<double>(field.dot_columns()), y}, others, "\u2504");
  }
  for (const Moment& moment : figure.moments) {
    const double x = across(axes.x, moment.x, field.dot_columns());
    field.line({x, 0}, {x, static_cast<double>(field.dot_rows())}, others, "\u250a");
  }
  std::vector<int> owner_colours;
  for (size_t i = 0; i < figure.areas.size() && colours; ++i) owner_colours.push_back(terminal_colour(i));
  if (colours) owner_colours.push_back(kLevelColour);
  return frame.text([&](int row) { return field.row_text(row, owner_colours); }, terminal_legend(figure, colours));
}

}  // namespace orrery
