// How a BarFigure looks in a terminal.
#include <algorithm>
#include <cmath>

#include "plot/bar_figure_parts.h"
#include "plot/terminal_frame.h"

namespace orrery {
namespace {

constexpr int kLevelColour = 244;

class TerminalBars {
 public:
  TerminalBars(const BarFigure& figure, int width, bool colours)
      : figure_(figure),
        values_(values_axis(figure, 0)),
        bars_(bars_of(figure, values_)),
        width_(width),
        colours_(colours) {
    for (const std::string& name : figure.names) {
      names_ = std::max(names_, n_columns(words(name, width * 2 / 5)));
    }
    size_t longest = 0;
    for (const Bar& bar : bars_) longest = std::max(longest, short_number(bar.to).size());
    for (size_t i = 0; i < figure.names.size(); ++i)
      longest = std::max(longest, short_number(sum_of(figure, i)).size());
    columns_ = std::max(4, width - names_ - 3 - static_cast<int>(longest));
  }

  std::string text() const {
    std::string text;
    if (!figure_.title.empty()) text += words(figure_.title) + "\n";
    if (!figure_.names_label.empty()) text += words(figure_.names_label) + "\n";
    size_t next = 0;
    for (size_t name = 0; name < figure_.names.size(); ++name) {
      const size_t first = next;
      while (next < bars_.size() && bars_[next].name == name) ++next;
      text += lines_of(name, first, next);
    }
    text += ends();
    return text + legend_text(legend(), width_, names_ + 2, colours_);
  }

 private:
  const BarFigure& figure_;
  Axis values_;
  std::vector<Bar> bars_;
  int width_;
  bool colours_;
  int names_ = 0;
  int columns_ = 0;

  std::string mark(size_t series) const {
    if (figure_.style == BarStyle::points && (colours_ || series == 0)) return "\u25cf";
    return filling(series, colours_).mark;
  }

  std::string beginning(const std::string& name) const {
    return right_aligned(words(name, width_ * 2 / 5), names_) + (name.empty() ? " \u2502" : " \u2524");
  }

  // Of a bar, in eighths of a column.
  int eighths(double value) const {
    return static_cast<int>(std::lround(std::clamp(values_.position(value), 0.0, 1.0) * columns_ * 8));
  }

  std::string piece(const Bar& bar) const {
    const int begin = std::min(eighths(bar.from), eighths(bar.to));
    const int end = std::max(eighths(bar.from), eighths(bar.to));
    if (figure_.style == BarStyle::points) {
      const int column = std::min(end / 8, columns_ - 1);
      return repeated("\u2500", column) + coloured(mark(bar.series), terminal_colour(bar.series), colours_);
    }
    std::string blocks = repeated(mark(bar.series), end / 8 - begin / 8);
    const bool is_whole_block = colours_ || bar.series == 0;
    const int rest = end % 8;
    // U+258F to U+2589: one eighth to seven eighths of a block, from the left.
    if (is_whole_block && bar.to >= bar.from && rest > 0) {
      blocks += std::string("\xE2\x96") + static_cast<char>(0x90 - rest);
    }
    return blanks(begin / 8) + coloured(blocks, terminal_colour(bar.series), colours_);
  }

  std::string lines_of(size_t name, size_t first, size_t end) const {
    if (first == end) return beginning(figure_.names[name]) + "\n";
    if (figure_.style == BarStyle::stacked) return beginning(figure_.names[name]) + stack(name, first, end) + "\n";
    std::string text;
    for (size_t i = first; i < end; ++i) {
      text +=
          beginning(i == first ? figure_.names[name] : "") + piece(bars_[i]) + " " + short_number(bars_[i].to) + "\n";
    }
    return text;
  }

  // Whole columns only: each belongs to the bar that covers its middle.
  std::string stack(size_t name, size_t first, size_t end) const {
    std::string text;
    std::string gap;
    for (int column = 0; column < columns_; ++column) {
      std::string cell = " ";
      for (size_t i = first; i < end; ++i) {
        const double low = std::min(eighths(bars_[i].from), eighths(bars_[i].to));
        const double high = std::max(eighths(bars_[i].from), eighths(bars_[i].to));
        const int middle = column * 8 + 4;
        if (low <= middle && middle < high) {
          cell = coloured(mark(bars_[i].series), terminal_colour(bars_[i].series), colours_);
        }
      }
      if (cell == " ") {
        gap += cell;
      } else {
        text += gap + cell;
        gap.clear();
      }
    }
    return text + " " + short_number(sum_of(figure_, name));
  }

  // The numbers at both ends of the axis.
  std::string ends() const {
    const auto tick = [&](double value) { return short_number(values_.position(value) < 0 ? 0 : value); };
    const std::string low = tick(values_.low());
    const std::string high = short_number(values_.high());
    const std::string label = words(figure_.values.label);
    const int room = std::max(1, columns_ - n_columns(low) - n_columns(high) - n_columns(label));
    std::string line = blanks(names_) + " \u2514" + repeated("\u2500", columns_) + "\n";
    return line + blanks(names_ + 2) + low + blanks(room / 2) + label + blanks(room - room / 2) + high + "\n";
  }

  std::vector<TerminalEntry> legend() const {
    std::vector<TerminalEntry> legend;
    for (size_t i = 0; i < figure_.series.size(); ++i) {
      const std::string sample = figure_.style == BarStyle::points ? mark(i) : repeated(mark(i), 2);
      if (!figure_.series[i].name.empty()) legend.push_back({sample, figure_.series[i].name, terminal_colour(i)});
    }
    for (const Level& level : figure_.levels) {
      if (!level.name.empty())
        legend.push_back({"\u2504\u2504", level.name + ": " + short_number(level.y), kLevelColour});
    }
    return legend;
  }
};

}  // namespace

std::string terminal_text(const BarFigure& figure, int width, bool colours) {
  check(figure);
  check_terminal_size(width, 2);
  return TerminalBars(figure, width, colours).text();
}

}  // namespace orrery
