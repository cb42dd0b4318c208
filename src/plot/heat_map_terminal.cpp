// How a HeatMap looks in a terminal.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/utf8.h"
#include "plot/character_field.h"
#include "plot/heat_map_parts.h"
#include "plot/terminal_frame.h"

namespace orrery {
namespace {

constexpr const char* kShades[] = {"\u2591", "\u2592", "\u2593", "\u2588"};
constexpr int kBetween = 2;  // columns between panels

// A name's characters, for writing it from top to bottom.
std::vector<std::string> characters(const std::string& name, size_t at_most) {
  std::vector<std::string> result;
  const std::string clean = words(name);
  for (size_t at = 0; at < clean.size() && result.size() < at_most;) {
    const size_t length = std::max<size_t>(1, utf8_length(std::string_view(clean).substr(at)));
    result.push_back(clean.substr(at, length));
    at += length;
  }
  return result;
}

class TerminalHeatMap {
 public:
  TerminalHeatMap(const HeatMap& figure, int width, int height, bool colours)
      : figure_(figure), axis_(values_axis(figure)), width_(width), height_(height), colours_(colours) {
    for (const std::string& name : figure.row_names) names_ = std::max(names_, n_columns(words(name, width / 3)) + 1);
    size_t longest = 1;
    for (const HeatMapPanel& panel : figure.panels) {
      for (const double value : panel.values) longest = std::max(longest, fixed(value, figure.decimals).size());
    }
    const int room = width - names_;
    const int columns = static_cast<int>(std::min<size_t>(figure.n_columns, 1000));
    cell_ = figure.has_numbers ? static_cast<int>(std::min<size_t>(longest, 100)) + 1 : 2;
    has_numbers_ = figure.has_numbers && columns * cell_ <= room;
    if (!has_numbers_) cell_ = columns * 2 <= room ? 2 : 1;
    columns_ = std::clamp(room / cell_, 1, std::max(1, columns));
    across_ = static_cast<size_t>(std::max(1, (room + kBetween) / (columns_ * cell_ + kBetween)));
  }

  std::string text() const {
    std::string text;
    if (!figure_.title.empty()) text += words(figure_.title) + "\n";
    const std::string arrow = figure_.rows_label.empty() || figure_.columns_label.empty() ? "" : " \u2193  ";
    if (!arrow.empty()) text += words(figure_.rows_label) + arrow + words(figure_.columns_label) + " \u2192\n";
    if (arrow.empty() && !figure_.rows_label.empty()) text += words(figure_.rows_label) + "\n";
    if (arrow.empty() && !figure_.columns_label.empty()) text += words(figure_.columns_label) + "\n";
    for (size_t first = 0; first < figure_.panels.size(); first += across_) {
      text += panels(first, std::min(first + across_, figure_.panels.size()));
    }
    return text + scale();
  }

 private:
  const HeatMap& figure_;
  Axis axis_;
  int width_;
  int height_;
  bool colours_;
  int names_ = 0;  // columns left of the panels
  int cell_ = 2;
  int columns_ = 1;
  size_t across_ = 1;
  bool has_numbers_ = false;

  int panel_width() const { return columns_ * cell_; }

  std::string cell_text(const std::optional<double>& value) const {
    if (!value) return blanks(cell_);
    if (!can_show(axis_.scale(), *value)) return right_aligned(cell_ == 1 ? "?" : "??", cell_);
    const double share = share_of(axis_, *value);
    if (colours_) {
      const std::string number = has_numbers_ ? right_aligned(fixed(*value, figure_.decimals), cell_) : blanks(cell_);
      return background_begin(nearest_terminal_colour(mapped(figure_.colours, share))) + number + kColourEnd;
    }
    if (has_numbers_) return right_aligned(fixed(*value, figure_.decimals), cell_);
    const bool is_diverging = figure_.colours == ColourMap::diverging;
    const double size = is_diverging ? std::abs(share - 0.5) * 2 : share;
    const std::string shade = kShades[std::min(3, static_cast<int>(size * 4))];
    return is_diverging && share < 0.5 && cell_ > 1 ? "-" + repeated(shade, cell_ - 1) : repeated(shade, cell_);
  }

  std::string panels(size_t first, size_t end) const {
    std::string text;
    std::string titles = blanks(names_);
    for (size_t i = first; i < end; ++i) {
      const std::string title = words(figure_.panels[i].title, i + 1 == end ? width_ : panel_width());
      titles += i + 1 == end ? title : left_aligned(title, panel_width() + kBetween);
    }
    if (titles.find_first_not_of(' ') != std::string::npos) text += titles + "\n";
    std::vector<Blocks> blocks;
    for (size_t i = first; i < end; ++i) {
      blocks.emplace_back(figure_, figure_.panels[i], axis_, static_cast<size_t>(height_),
                          static_cast<size_t>(columns_));
    }
    for (size_t row = 0; row < blocks[0].rows(); ++row) {
      std::string line;
      if (names_ > 0)
        line = right_aligned(words(figure_.row_names[blocks[0].first_row(row)], width_ / 3), names_ - 1) + " ";
      for (const Blocks& block : blocks) {
        if (&block != &blocks[0]) line += blanks(kBetween);
        for (size_t column = 0; column < block.columns(); ++column) line += cell_text(block.at(row, column));
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    if (!figure_.column_names.empty() && figure_.n_columns > 0) text += column_names(blocks[0], end - first);
    return text;
  }

  // Names below the cells: from left to right if all find room there, else from top to bottom.
  std::string column_names(const Blocks& blocks, size_t n_panels) const {
    constexpr size_t kLongest = 10;
    std::vector<std::vector<std::string>> names;
    bool fits = true;
    size_t n_lines = 1;
    for (size_t column = 0; column < blocks.columns(); ++column) {
      const std::string& name = figure_.column_names[blocks.first_column(column)];
      fits = fits && n_columns(words(name)) < cell_ + (has_numbers_ ? 0 : -1 + 1);
      names.push_back(characters(name, kLongest));
    }
    for (const auto& name : names) n_lines = fits ? 1 : std::max(n_lines, name.size());
    std::string text;
    for (size_t line = 0; line < n_lines; ++line) {
      std::string one = blanks(names_);
      for (size_t panel = 0; panel < n_panels; ++panel) {
        if (panel > 0) one += blanks(kBetween);
        for (size_t column = 0; column < names.size(); ++column) {
          const std::string letter = line < names[column].size() ? names[column][line] : "";
          const std::string whole = words(figure_.column_names[blocks.first_column(column)]);
          if (fits) one += right_aligned(whole, cell_);
          if (!fits) one += has_numbers_ ? right_aligned(letter, cell_) : left_aligned(letter, cell_);
        }
      }
      text += one.substr(0, one.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
  }

  std::string scale() const {
    std::string ramp;
    if (colours_) {
      for (int i = 0; i < 16; ++i) {
        ramp += background_begin(nearest_terminal_colour(mapped(figure_.colours, (i + 0.5) / 16))) + " " + kColourEnd;
      }
    } else if (has_numbers_) {
      return "";
    } else {
      for (int i = 3; i >= 0 && figure_.colours == ColourMap::diverging; --i)
        ramp += std::string("-") + kShades[i] + " ";
      for (const char* shade : kShades) ramp += shade;
    }
    const std::string label = figure_.values.label.empty() ? "" : words(figure_.values.label) + ": ";
    return blanks(names_) + label + short_number(axis_.low()) + " " + ramp + " " + short_number(axis_.high()) + "\n";
  }
};

}  // namespace

std::string terminal_text(const HeatMap& figure, int width, int height, bool colours) {
  check(figure);
  check_terminal_size(width, height);
  return TerminalHeatMap(figure, width, height, colours).text();
}

}  // namespace orrery
