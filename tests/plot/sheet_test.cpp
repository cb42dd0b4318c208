#include "plot/sheet.h"

#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

TEST_CASE("plot: a sheet has every pixel of its figures, and white where one is narrower") {
  std::vector<Canvas> figures = {Canvas(5, 3), Canvas(8, 4), Canvas(2, 2)};
  const Point slope[] = {{0, 0}, {8, 4}};
  figures[0].stroke(slope, {.colour = {200, 30, 0}, .width = 1.5, .opacity = 0.7});
  figures[1].stroke(slope, {.colour = {0, 30, 200}, .width = 3});
  figures[1].write("i", {1, 4}, {});
  figures[2].fill({0, 0, 2, 1}, {1, 2, 3});
  const Canvas sheet = one_below_the_other(figures);
  REQUIRE(sheet.width() == 8);
  REQUIRE(sheet.height() == 9);
  int wrong = 0, top = 0;
  for (const Canvas& figure : figures) {
    for (int row = 0; row < figure.height(); ++row) {
      for (int column = 0; column < 8; ++column) {
        const Colour expected = column < figure.width() ? figure.at(column, row) : kWhite;
        if (sheet.at(column, top + row) != expected) ++wrong;
      }
    }
    top += figure.height();
  }
  CHECK(wrong == 0);
  CHECK(sheet.at(0, 7) == Colour{1, 2, 3});
}

TEST_CASE("plot: a sheet of nothing, or of too much, is refused") {
  CHECK_THROWS_AS(one_below_the_other({}), Error);
  CHECK_THROWS_AS(one_below_the_other(std::vector<Canvas>(3, Canvas(1, 6000))), Error);
}
