#include "plot/stroke_letters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include <stb/stb_easy_font.h>

#include "base/utf8.h"

namespace orrery {
namespace {

constexpr int kColumns = 8;
constexpr int kRows = 10;  // 7 of a capital letter, 2 below the baseline, 1 that is always empty
constexpr int kBaseline = 6;
constexpr double kAdvanceOfBox = 6;

// Which dots of a letter are set.
class Dots {
 public:
  explicit Dots(char letter) {
    char text[] = {letter, '\0'};
    // stb gives quadrilaterals of four vertices of 16 bytes (x, y, z as floats and a colour): rows or columns of dots.
    std::array<char, 64 * 64> quads;
    const int n = stb_easy_font_print(0, 0, text, nullptr, quads.data(), static_cast<int>(quads.size()));
    for (int quad = 0; quad < n; ++quad) {
      float begin[2];
      float end[2];
      std::memcpy(begin, quads.data() + quad * 64, sizeof begin);
      std::memcpy(end, quads.data() + quad * 64 + 32, sizeof end);
      for (int row = static_cast<int>(begin[1]); row < static_cast<int>(end[1]); ++row) {
        for (int column = static_cast<int>(begin[0]); column < static_cast<int>(end[0]); ++column) set(column, row);
      }
    }
    advance_ = stb_easy_font_width(text);
  }

  bool at(int column, int row) const {
    return column >= 0 && column < kColumns && row >= 0 && row < kRows && dots_[row * kColumns + column];
  }
  double advance() const { return advance_; }

 private:
  std::array<bool, kColumns* kRows> dots_ = {};
  double advance_ = 0;

  void set(int column, int row) {
    if (column < kColumns && row < kRows) dots_[row * kColumns + column] = true;
  }
};

// Joins each dot with its neighbours to the right and below, and across a corner where no way round joins them.
void add_strokes(const Dots& dots, double left, std::vector<Stroke>& strokes) {
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      if (!dots.at(column, row)) continue;
      const Point here = {left + column, static_cast<double>(row - kBaseline)};
      const bool right = dots.at(column + 1, row);
      const bool below = dots.at(column, row + 1);
      if (right) strokes.push_back({here, {here.x + 1, here.y}});
      if (below) strokes.push_back({here, {here.x, here.y + 1}});
      if (!right && !below && dots.at(column + 1, row + 1)) strokes.push_back({here, {here.x + 1, here.y + 1}});
      if (!dots.at(column - 1, row) && !below && dots.at(column - 1, row + 1)) {
        strokes.push_back({here, {here.x - 1, here.y + 1}});
      }
      strokes.push_back({here, here});
    }
  }
}

void add_box(double left, std::vector<Stroke>& strokes) {
  const Point corners[] = {{left, 0}, {left, -6}, {left + 4, -6}, {left + 4, 0}};
  for (int i = 0; i < 4; ++i) strokes.push_back({corners[i], corners[(i + 1) % 4]});
}

// The strokes of the text if wanted; its width with the gap behind the last letter.
double lay_out(std::string_view text, std::vector<Stroke>* strokes) {
  double x = 0;
  while (!text.empty()) {
    const bool is_letter = text[0] >= ' ' && text[0] <= '~';
    if (is_letter) {
      const Dots dots(text[0]);
      if (strokes != nullptr) add_strokes(dots, x, *strokes);
      x += dots.advance();
    } else {
      if (strokes != nullptr) add_box(x, *strokes);
      x += kAdvanceOfBox;
    }
    text.remove_prefix(std::max<size_t>(1, utf8_length(text)));
  }
  return x;
}

}  // namespace

std::vector<Stroke> letter_strokes(std::string_view text) {
  std::vector<Stroke> strokes;
  lay_out(text, &strokes);
  return strokes;
}

double letters_width(std::string_view text) { return std::max(0.0, lay_out(text, nullptr) - 2); }

}  // namespace orrery
