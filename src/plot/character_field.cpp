#include "plot/character_field.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "plot/colour.h"

namespace orrery {
namespace {

// U+2800 to U+28FF: the character's last 8 bits are its dots.
std::string braille(uint8_t dots) {
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3F))};
}

// Braille counts the dots 1 2 3 down the left column, 4 5 6 down the right one, 7 and 8 below.
uint8_t bit_of(int column, int row) {
  constexpr uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return kBits[row][column];
}

}  // namespace

void CharacterField::dot(Point at, int owner, const char* mark) {
  if (!(at.x >= 0 && at.x < dot_columns() && at.y >= 0 && at.y < dot_rows())) return;
  const int column = static_cast<int>(at.x);
  const int row = static_cast<int>(at.y);
  Cell& cell = cells_[static_cast<size_t>(row / 4) * columns_ + column / 2];
  if (cell.owner != owner) cell = {0, nullptr, owner};
  if (mark != nullptr) cell.mark = mark;
  if (mark == nullptr) cell.dots |= bit_of(column % 2, row % 4);
}

void CharacterField::line(Point from, Point to, int owner, const char* mark) {
  const Visible part =
      visible_part(from, to, {0, 0, static_cast<double>(dot_columns()), static_cast<double>(dot_rows())});
  if (part.is_empty()) return;
  const Point begin = between(from, to, part.begin);
  const Point end = between(from, to, part.end);
  const double length = std::max(std::abs(end.x - begin.x), std::abs(end.y - begin.y));
  const int steps = std::max(1, static_cast<int>(std::ceil(length)));
  for (int step = 0; step <= steps; ++step) dot(between(begin, end, static_cast<double>(step) / steps), owner, mark);
}

std::string CharacterField::row_text(int row, const std::vector<int>& colours) const {
  std::string text;
  std::string blanks;     // not yet in the text: at the end of the row they stay away
  int current = kNobody;  // whose colour is on
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[static_cast<size_t>(row) * columns_ + column];
    if (!colours.empty() && cell.owner != current) {
      if (current != kNobody) text += kColourEnd;
      current = cell.owner;
      if (current != kNobody) text += blanks + colour_begin(colours[static_cast<size_t>(current)]);
      if (current != kNobody) blanks.clear();
    }
    if (cell.owner == kNobody) {
      blanks += ' ';
      continue;
    }
    text += blanks + (cell.mark != nullptr ? cell.mark : braille(cell.dots));
    blanks.clear();
  }
  return current != kNobody ? text + kColourEnd : text;
}

std::string colour_begin(int terminal_colour) { return "\033[38;5;" + std::to_string(terminal_colour) + "m"; }

std::string background_begin(int terminal_colour) {
  constexpr int kBlack = 16;
  constexpr int kBright = 231;
  const int text = words_on(colour_of_terminal(terminal_colour)) == kWhite ? kBright : kBlack;
  return "\033[48;5;" + std::to_string(terminal_colour) + ";38;5;" + std::to_string(text) + "m";
}

}  // namespace orrery
