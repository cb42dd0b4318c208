#include "plot/terminal_frame.h"

#include <algorithm>
#include <iterator>

#include <utf8proc.h>

#include "base/error.h"
#include "base/utf8.h"
#include "plot/character_field.h"

namespace orrery {
namespace {

int widest(const std::vector<Tick>& ticks) {
  int width = 0;
  for (const Tick& tick : ticks) width = std::max(width, n_columns(tick.label));
  return width;
}

std::vector<Tick> name_ticks(const std::vector<std::string>& names, int longest) {
  std::vector<Tick> ticks;
  for (size_t i = 0; i < names.size(); ++i) {
    ticks.push_back({static_cast<double>(names.size() - i) - 0.5, words(names[i], longest)});
  }
  return ticks;
}

// Of the character at the start of `text`: its length in bytes and its columns.
struct Extent {
  size_t bytes = 1;
  int columns = 1;
};
Extent extent(std::string_view text) {
  const size_t length = utf8_length(text);
  if (length == 0) return {};
  utf8proc_int32_t code_point = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(length),
                   &code_point);
  return {length, utf8proc_charwidth(code_point)};
}

}  // namespace

Filling filling(size_t index, bool colours) {
  constexpr const char* kMarks[] = {"\u2588", "\u2592", "\u2591", "#", "=", "+", "o", "\u2593"};
  return {kMarks[colours ? 0 : index % std::size(kMarks)], terminal_colour(index)};
}

TerminalFrame::TerminalFrame(const Frame& frame, int width, int height, bool colours)
    : title_(words(frame.title)), x_(frame.x), y_(frame.y), width_(width), rows_(height), colours_(colours) {
  check_terminal_size(width, height);
  if (y_.names.empty()) {
    y_ticks_ = y_.axis.ticks_that_fit(height - 1, 1, [](std::string_view) { return 1.0; });
  } else {
    rows_ = static_cast<int>(y_.names.size());
    y_ticks_ = name_ticks(y_.names, width * 2 / 5);
  }
  numbers_ = widest(y_ticks_);
  columns_ = std::max(4, width - numbers_ - 2);
  const auto size_of = [](std::string_view label) { return static_cast<double>(label.size()); };
  if (x_.names.empty()) x_ticks_ = x_.axis.ticks_that_fit(columns_ - 1, 2, size_of);
}

std::string TerminalFrame::text(const std::function<std::string(int)>& row_text,
                                const std::vector<TerminalEntry>& legend) const {
  std::string text;
  if (!title_.empty()) text += blanks(numbers_ + 2) + title_ + "\n";
  if (!y_.label.empty()) text += words(y_.label) + "\n";
  std::vector<std::string> labels(static_cast<size_t>(rows_));
  for (const Tick& tick : y_ticks_) {
    const double y = 4 * rows_ - across(y_.axis, tick.value, 4 * rows_);
    if (!tick.label.empty())
      labels[static_cast<size_t>(std::clamp(static_cast<int>(y) / 4, 0, rows_ - 1))] = tick.label;
  }
  for (int row = 0; row < rows_; ++row) {
    const std::string& label = labels[static_cast<size_t>(row)];
    text += right_aligned(label, numbers_) + (label.empty() ? " \u2502" : " \u2524") + row_text(row) + "\n";
  }
  text += axis_text();
  if (!x_.label.empty()) text += blanks(numbers_ + 2) + centered(words(x_.label), columns_) + "\n";
  return text + legend_text(legend, width_, numbers_ + 2, colours_);
}

// The line below the field and its numbers.
std::string TerminalFrame::axis_text() const {
  std::vector<bool> is_tick(static_cast<size_t>(columns_));
  std::string numbers;
  int end = 0;
  for (const Tick& tick : x_ticks_) {
    if (tick.label.empty()) continue;
    const int column = static_cast<int>(across(x_.axis, tick.value, 2 * columns_)) / 2;
    is_tick[static_cast<size_t>(std::clamp(column, 0, columns_ - 1))] = true;
    // Centred below its tick, but not outside the figure.
    const int size = n_columns(tick.label);
    const int begin = std::clamp(numbers_ + 2 + column - size / 2, 0, std::max(0, numbers_ + 2 + columns_ - size));
    numbers += blanks(begin - end) + tick.label;
    end = begin + size;
  }
  std::string line = blanks(numbers_) + " \u2514";
  for (const bool tick : is_tick) line += tick ? "\u252c" : "\u2500";
  return line + "\n" + numbers + "\n";
}

std::string legend_text(const std::vector<TerminalEntry>& legend, int width, int indent, bool colours) {
  constexpr int kBetween = 3;
  std::string text;
  int end = 0;  // of the line so far
  for (const TerminalEntry& entry : legend) {
    const std::string name = words(entry.name);
    const int size = n_columns(entry.sample) + 1 + n_columns(name);
    const bool is_continued = end > 0 && end + kBetween + size <= width;
    if (end > 0 && !is_continued) text += "\n";
    if (!is_continued) end = 0;
    const int gap = is_continued ? kBetween : indent;
    text += blanks(gap) + coloured(entry.sample, entry.colour, colours) + " " + name;
    end += gap + size;
  }
  return text.empty() ? text : text + "\n";
}

double across(const Axis& axis, double value, int dots) { return axis.position(value) * (dots - 1) + 0.5; }

std::string words(const std::string& text, int columns) {
  std::string clean = printable(text);
  if (n_columns(clean) <= columns) return clean;
  size_t length = 0;
  int end = 2;  // of the two dots
  while (length < clean.size()) {
    const Extent next = extent(std::string_view(clean).substr(length));
    end += next.columns;
    if (end > columns) break;
    length += next.bytes;
  }
  return clean.substr(0, length) + "..";
}

std::string blanks(int n) { return std::string(static_cast<size_t>(std::max(n, 0)), ' '); }
std::string right_aligned(const std::string& text, int width) { return blanks(width - n_columns(text)) + text; }
std::string left_aligned(const std::string& text, int width) { return text + blanks(width - n_columns(text)); }
std::string centered(const std::string& text, int width) { return blanks((width - n_columns(text)) / 2) + text; }

std::string repeated(const std::string& text, int n) {
  std::string result;
  for (int i = 0; i < n; ++i) result += text;
  return result;
}

std::string coloured(const std::string& text, int colour, bool colours) {
  return colours && !text.empty() ? colour_begin(colour) + text + kColourEnd : text;
}

int n_columns(const std::string& text) {
  int n = 0;
  for (size_t at = 0; at < text.size();) {
    const Extent next = extent(std::string_view(text).substr(at));
    n += next.columns;
    at += next.bytes;
  }
  return n;
}

void check_terminal_size(int width, int height) {
  if (width >= 20 && width <= 1000 && height >= 2 && height <= 1000) return;
  throw Error({.what = "a figure of this size cannot be drawn in a terminal",
               .expected = "20 to 1000 columns and 2 to 1000 rows",
               .found = std::to_string(width) + " x " + std::to_string(height)});
}

}  // namespace orrery
