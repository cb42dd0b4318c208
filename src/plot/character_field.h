// A field of characters to draw on: dots (braille, 2 by 4 in each character) and other characters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plot/geometry.h"

namespace orrery {

class CharacterField {
 public:
  static constexpr int kNobody = -1;

  CharacterField(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<size_t>(columns) * rows) {}
  int dot_columns() const { return 2 * columns_; }
  int dot_rows() const { return 4 * rows_; }

  // Each of these is drawn by an owner, a number from 0; what another owner drew into the same character goes away.
  // Outside the field nothing is drawn. The points are in dots: the dot in column 3 covers x from 3 to 4. `mark`: a
  // UTF-8 character to draw in place of dots; nullptr: dots.
  void dot(Point at, int owner, const char* mark = nullptr);
  void line(Point from, Point to, int owner, const char* mark = nullptr);  // nothing where a point is not finite

  // One row without the blanks at its end. `colours`: in the terminal colour colours[owner] (256 colours), if not
  // empty.
  std::string row_text(int row, const std::vector<int>& colours = {}) const;

 private:
  struct Cell {
    uint8_t dots = 0;
    const char* mark = nullptr;
    int owner = kNobody;
  };
  int columns_;
  int rows_;
  std::vector<Cell> cells_;
};

// Starts a terminal's colour; the text must be followed by kColourEnd.
std::string colour_begin(int terminal_colour);
std::string background_begin(int terminal_colour);  // with words that can be read on it
inline constexpr const char* kColourEnd = "\033[0m";

}  // namespace orrery
