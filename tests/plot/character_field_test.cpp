#include "plot/character_field.h"

#include <cmath>

#include <doctest/doctest.h>

using namespace orrery;

TEST_CASE("plot: braille dots") {
  CharacterField field(4, 2);
  CHECK(field.dot_columns() == 8);
  CHECK(field.dot_rows() == 8);
  // Unicode's numbers of the dots: 1 2 3 7 in the left column, 4 5 6 8 in the right one.
  field.dot({0, 0}, 0);
  field.dot({3.9, 1.9}, 0);
  field.dot({4, 3}, 0);
  field.dot({5, 3}, 0);
  CHECK(field.row_text(0) == "\u2801\u2810\u28C0");
  CHECK(field.row_text(1).empty());
  for (int row = 4; row < 8; ++row) {
    for (int column = 6; column < 8; ++column) field.dot({double(column), double(row)}, 0);
  }
  CHECK(field.row_text(1) == "   \u28FF");
}

TEST_CASE("plot: dots outside the field and no numbers are left out") {
  CharacterField field(2, 1);
  field.dot({-0.1, 0}, 0);
  field.dot({4, 0}, 0);
  field.dot({0, 4}, 0);
  field.dot({NAN, 0}, 0);
  field.line({NAN, 0}, {2, 2}, 0);
  field.line({-5, -1}, {9, -1}, 0);
  CHECK(field.row_text(0).empty());
  field.line({-1e9, 0.5}, {1e9, 0.5}, 0);
  CHECK(field.row_text(0) == "\u2809\u2809");
}

TEST_CASE("plot: a later owner covers an earlier one character by character") {
  CharacterField field(3, 1);
  field.line({0, 0.5}, {5.5, 0.5}, 0);
  field.dot({2, 3}, 1);
  field.dot({4, 3}, 2, "x");
  CHECK(field.row_text(0) == "\u2809\u2840x");
}

TEST_CASE("plot: colours begin and end around what they colour") {
  CharacterField field(6, 1);
  field.dot({2, 0}, 0, "a");
  field.dot({4, 0}, 0, "b");
  field.dot({6, 0}, 1, "c");
  CHECK(field.row_text(0, {32, 166}) == " \033[38;5;32mab\033[0m\033[38;5;166mc\033[0m");
  CHECK(field.row_text(0) == " abc");
}
