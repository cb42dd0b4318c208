// How a LineFigure looks in a terminal.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "plot/character_field.h"
#include "plot/lettering.h"
#include "plot/line_figure_parts.h"

namespace orrery {
namespace {

constexpr const char* kPointMark = "\u2022";  // a bullet
constexpr const char* kLevelMark = "\u2504";  // a dashed line
constexpr const char* kLevelSample = "\u2504\u2504";
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

std::string blanks(int n) { return std::string(static_cast<size_t>(std::max(n, 0)), ' '); }
std::string centered(const std::string& text, int width) { return blanks((width - n_characters(text)) / 2) + text; }
std::string right_aligned(const std::string& text, int width) { return blanks(width - n_characters(text)) + text; }

// Control characters and broken UTF-8 do not belong into a terminal.
std::string words(const std::string& text) { return printable(text); }

int widest(const std::vector<Tick>& ticks) {
  int width = 0;
  for (const Tick& tick : ticks) width = std::max(width, n_characters(tick.label));
  return width;
}

// Dots for an axis' values.
double across(const Axis& axis, double value, int dots) { return axis.position(value) * (dots - 1) + 0.5; }

class TerminalFigure {
 public:
  TerminalFigure(const LineFigure& figure, int width, int height, bool colours)
      : figure_(figure), axes_(axes_of(figure)), width_(width), height_(height), colours_(colours) {
    y_ticks_ = axes_.y.ticks_that_fit(height - 1, 1, [](std::string_view) { return 1.0; });
    numbers_ = widest(y_ticks_);
    columns_ = std::max(4, width - numbers_ - 2);
    x_ticks_ = axes_.x.ticks_that_fit(columns_ - 1, 2, [](std::string_view label) { return n_characters(label); });
  }

  std::string text() const {
    std::string text;
    if (!figure_.title.empty()) text += blanks(numbers_ + 2) + words(figure_.title) + "\n";
    if (!figure_.y.label.empty()) text += words(figure_.y.label) + "\n";
    text += field_text() + axis_text();
    if (!figure_.x.label.empty()) {
      text += blanks(numbers_ + 2) + centered(words(figure_.x.label), columns_) + "\n";
    }
    return text + legend_text();
  }

 private:
  const LineFigure& figure_;
  Axes axes_;
  int width_;
  int height_;
  bool colours_;
  int numbers_ = 0;  // width of the numbers at the y axis
  int columns_ = 0;  // of the field
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;

  int level_owner() const { return static_cast<int>(figure_.series.size()); }

  std::vector<int> owner_colours() const {
    std::vector<int> colours;
    for (size_t i = 0; i < figure_.series.size() && colours_; ++i) colours.push_back(terminal_colour(i));
    if (colours_) colours.push_back(kLevelColour);
    return colours;
  }

  Point at(const CharacterField& field, double x, double y) const {
    return {across(axes_.x, x, field.dot_columns()), field.dot_rows() - across(axes_.y, y, field.dot_rows())};
  }

  static void draw_line(CharacterField& field, const std::vector<Point>& points, int owner, const char* mark) {
    for (size_t i = 0; i < points.size(); ++i) {
      const bool is_joined = i > 0 && is_finite(points[i - 1]);
      field.line(is_joined ? points[i - 1] : points[i], points[i], owner, mark);
    }
  }

  void draw(CharacterField& field, size_t index) const {
    const Series& given = figure_.series[index];
    const Series series = given.style == Style::noisy ? smoothed(given, window_of(given)) : given;
    const Look look = look_of(index, colours_);
    const int owner = static_cast<int>(index);
    std::vector<Point> points;
    for (size_t i = 0; i < series.x.size(); ++i) points.push_back(at(field, series.x[i], series.y[i]));
    // A line of letters would hide what lies under it, so of a line with points only the points are letters.
    const bool is_points_only = series.style == Style::line_and_points && look.line != nullptr;
    if (series.style != Style::points && !is_points_only) draw_line(field, thinned(points), owner, look.line);
    if (series.style != Style::points && series.style != Style::line_and_points) return;
    for (const Point point : points) field.dot(point, owner, look.point);
  }

  std::string field_text() const {
    CharacterField field(columns_, height_);
    for (const Level& level : figure_.levels) {
      const double y = at(field, axes_.x.low(), level.y).y;
      field.line({0, y}, {static_cast<double>(field.dot_columns()), y}, level_owner(), kLevelMark);
    }
    for (size_t i = 0; i < figure_.series.size(); ++i) draw(field, i);
    std::string text;
    for (int row = 0; row < height_; ++row) {
      std::string label;
      for (const Tick& tick : y_ticks_) {
        const double y = field.dot_rows() - across(axes_.y, tick.value, field.dot_rows());
        if (!tick.label.empty() && static_cast<int>(y) / 4 == row) label = tick.label;
      }
      text += right_aligned(label, numbers_) + (label.empty() ? " \u2502" : " \u2524") +
              field.row_text(row, owner_colours());
      text += "\n";
    }
    return text;
  }

  // The line below the field and its numbers.
  std::string axis_text() const {
    std::vector<bool> is_tick(static_cast<size_t>(columns_));
    std::string numbers;
    int end = 0;
    for (const Tick& tick : x_ticks_) {
      if (tick.label.empty()) continue;
      const int column = static_cast<int>(across(axes_.x, tick.value, 2 * columns_)) / 2;
      is_tick[static_cast<size_t>(std::clamp(column, 0, columns_ - 1))] = true;
      // Centred below its tick, but not outside the figure.
      const int size = n_characters(tick.label);
      const int begin = std::clamp(numbers_ + 2 + column - size / 2, 0, std::max(0, numbers_ + 2 + columns_ - size));
      numbers += blanks(begin - end) + tick.label;
      end = begin + size;
    }
    std::string line = blanks(numbers_) + " \u2514";
    for (const bool tick : is_tick) line += tick ? "\u252c" : "\u2500";
    return line + "\n" + numbers + "\n";
  }

  std::string sample(size_t index) const {
    const Series& series = figure_.series[index];
    const Look look = look_of(index, colours_);
    const bool has_line = series.style != Style::points && (series.style != Style::line_and_points || !look.line);
    if (!has_line) return look.point;
    return look.line != nullptr ? std::string(look.line) + look.line : kDotsSample;
  }

  struct Entry {
    std::string sample;
    std::string name;
    int colour = 0;
  };

  std::vector<Entry> legend() const {
    std::vector<Entry> entries;
    for (size_t i = 0; i < figure_.series.size(); ++i) {
      if (figure_.series[i].name.empty()) continue;
      entries.push_back({sample(i), words(legend_name(figure_.series[i])), terminal_colour(i)});
    }
    for (const Level& level : figure_.levels) {
      if (!level.name.empty()) entries.push_back({kLevelSample, words(level.name), kLevelColour});
    }
    return entries;
  }

  // From left to right, then the next line.
  std::string legend_text() const {
    constexpr int kBetween = 3;
    std::string text;
    int end = 0;  // of the line so far
    for (const Entry& entry : legend()) {
      const int size = n_characters(entry.sample) + 1 + n_characters(entry.name);
      const bool is_continued = end > 0 && end + kBetween + size <= width_;
      if (end > 0 && !is_continued) text += "\n";
      if (!is_continued) end = 0;
      const int gap = is_continued ? kBetween : numbers_ + 2;
      text += blanks(gap);
      text += colours_ ? colour_begin(entry.colour) + entry.sample + kColourEnd : entry.sample;
      text += " " + entry.name;
      end += gap + size;
    }
    return text.empty() ? text : text + "\n";
  }
};

}  // namespace

std::string terminal_text(const LineFigure& figure, int width, int height, bool colours) {
  check(figure);
  if (width < 20 || width > 1000 || height < 2 || height > 1000) {
    throw Error({.what = "a figure of this size cannot be drawn in a terminal",
                 .expected = "20 to 1000 columns and 2 to 1000 rows",
                 .found = std::to_string(width) + " x " + std::to_string(height)});
  }
  return TerminalFigure(figure, width, height, colours).text();
}

}  // namespace orrery
