// How a LineFigure looks in a terminal.
#include <iterator>

#include "plot/character_field.h"
#include "plot/line_figure_parts.h"
#include "plot/terminal_frame.h"

namespace orrery {
namespace {

constexpr const char* kPointMark = "\u2022";  // a bullet
constexpr const char* kLevelMark = "\u2504";  // a dashed line
constexpr const char* kLevelSample = "\u2504\u2504";
constexpr const char* kMomentMark = "\u250a";       // a dashed line that stands
constexpr const char* kMarkedPointMark = "\u25c6";  // a diamond
constexpr const char* kDotsSample = "\u2812\u2812";
constexpr int kLevelColour = 244;

// What the characters of one series look like; nullptr: dots.
struct Look {
  const char* line = nullptr;
  const char* point = kPointMark;
};

Look look_of(size_t index, bool colours) {
  constexpr const char* kLetters[] = {"o", "x", "+", "*", "#", "@", "%"};
  if (colours || index == 0) return {};
  const char* letter = kLetters[(index - 1) % std::size(kLetters)];
  return {letter, letter};
}

Point at(const CharacterField& field, const Axes& axes, double x, double y) {
  return {across(axes.x, x, field.dot_columns()), field.dot_rows() - across(axes.y, y, field.dot_rows())};
}

void draw_line(CharacterField& field, const std::vector<Point>& points, int owner, const char* mark) {
  for (size_t i = 0; i < points.size(); ++i) {
    const bool is_joined = i > 0 && is_finite(points[i - 1]);
    field.line(is_joined ? points[i - 1] : points[i], points[i], owner, mark);
  }
}

void draw(CharacterField& field, const Axes& axes, const Series& given, size_t index, bool colours) {
  const Series series = given.style == Style::noisy ? smoothed(given, window_of(given)) : given;
  const Look look = look_of(index, colours);
  const int owner = static_cast<int>(index);
  std::vector<Point> points;
  for (size_t i = 0; i < series.x.size(); ++i) points.push_back(at(field, axes, series.x[i], series.y[i]));
  // A line of letters would hide what lies under it, so of a line with points only the points are letters.
  const bool is_points_only = series.style == Style::line_and_points && look.line != nullptr;
  if (series.style != Style::points && !is_points_only) draw_line(field, thinned(points), owner, look.line);
  if (series.style != Style::points && series.style != Style::line_and_points) return;
  for (const Point point : points) field.dot(point, owner, look.point);
}

std::string sample(const Series& series, size_t index, bool colours) {
  const Look look = look_of(index, colours);
  const bool has_line = series.style != Style::points && (series.style != Style::line_and_points || !look.line);
  if (!has_line) return look.point;
  return look.line != nullptr ? std::string(look.line) + look.line : kDotsSample;
}

std::vector<TerminalEntry> legend_of(const LineFigure& figure, bool colours) {
  std::vector<TerminalEntry> legend;
  for (size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    if (!series.name.empty()) legend.push_back({sample(series, i, colours), legend_name(series), terminal_colour(i)});
  }
  for (const Level& level : figure.levels) {
    if (!level.name.empty()) legend.push_back({kLevelSample, level.name, kLevelColour});
  }
  for (const Moment& moment : figure.moments) {
    if (!moment.name.empty()) {
      legend.push_back({kMomentMark, moment.name + " (" + short_number(moment.x) + ")", kLevelColour});
    }
  }
  for (const MarkedPoint& point : figure.points) {
    const std::string place = " (" + short_number(point.x) + ", " + short_number(point.y) + ")";
    if (!point.name.empty()) legend.push_back({kMarkedPointMark, point.name + place, kLevelColour});
  }
  return legend;
}

}  // namespace

std::string terminal_text(const LineFigure& figure, int width, int height, bool colours) {
  check(figure);
  const Axes axes = axes_of(figure);
  const TerminalFrame frame({figure.title, {figure.x.label, axes.x}, {figure.y.label, axes.y}}, width, height, colours);
  CharacterField field(frame.columns(), height);
  const int others = static_cast<int>(figure.series.size());  // the owner of all that is no series
  for (const Level& level : figure.levels) {
    const double y = at(field, axes, axes.x.low(), level.y).y;
    field.line({0, y}, {static_cast<double>(field.dot_columns()), y}, others, kLevelMark);
  }
  for (const Moment& moment : figure.moments) {
    const double x = at(field, axes, moment.x, axes.y.low()).x;
    field.line({x, 0}, {x, static_cast<double>(field.dot_rows())}, others, kMomentMark);
  }
  for (size_t i = 0; i < figure.series.size(); ++i) draw(field, axes, figure.series[i], i, colours);
  for (const MarkedPoint& point : figure.points) field.dot(at(field, axes, point.x, point.y), others, kMarkedPointMark);
  std::vector<int> owner_colours;
  for (size_t i = 0; i < figure.series.size() && colours; ++i) owner_colours.push_back(terminal_colour(i));
  if (colours) owner_colours.push_back(kLevelColour);
  return frame.text([&](int row) { return field.row_text(row, owner_colours); }, legend_of(figure, colours));
}

}  // namespace orrery
