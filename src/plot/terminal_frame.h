// What figures in a terminal share: title, numbers or names at the axes, legend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plot/frame.h"

namespace orrery {

struct TerminalEntry {
  std::string sample;
  std::string name;
  int colour = 0;  // one of 256
};

// The characters of a series that fills areas.
struct Filling {
  const char* mark;  // a full block, then shades, then letters; with colours always a full block
  int colour;
};
Filling filling(size_t index, bool colours);

class TerminalFrame {
 public:
  // The field has `height` rows, or with names at the left one row for each. Throws Error unless width is 20 to 1000
  // and height 2 to 1000.
  TerminalFrame(const Frame& frame, int width, int height, bool colours);

  int columns() const { return columns_; }  // of the field
  int rows() const { return rows_; }
  // `row_text` makes the rows of the field, from the top.
  std::string text(const std::function<std::string(int)>& row_text, const std::vector<TerminalEntry>& legend) const;

 private:
  std::string title_;
  FrameAxis x_;
  FrameAxis y_;
  int width_;
  int rows_;
  bool colours_;
  int numbers_ = 0;  // columns left of the axis
  int columns_ = 0;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;

  std::string axis_text() const;
};

// From left to right, then the next line; each line begins with `indent` blanks.
std::string legend_text(const std::vector<TerminalEntry>& legend, int width, int indent, bool colours);

// Which of `dots` dots shows a value, as a coordinate in dots.
double across(const Axis& axis, double value, int dots);

// The part of a text that fits into so many columns, ".." at its end if it does not. Control characters and broken
// UTF-8, which do not belong into a terminal, are made visible.
std::string words(const std::string& text, int columns = 1000);
std::string blanks(int n);
std::string right_aligned(const std::string& text, int width);
std::string left_aligned(const std::string& text, int width);
std::string centered(const std::string& text, int width);  // without blanks behind it
std::string repeated(const std::string& text, int n);
// In a colour, if wanted.
std::string coloured(const std::string& text, int colour, bool colours);
// Columns of a terminal that a text takes: Chinese characters take two.
int n_columns(const std::string& text);

void check_terminal_size(int width, int height);

}  // namespace orrery
