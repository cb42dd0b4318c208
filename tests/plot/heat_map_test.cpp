#include "plot/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/field_finder.h"

using namespace orrery;
using orrery::test::Drawing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HeatMap two_by_two() {
  return {.n_rows = 2, .n_columns = 2, .panels = {{"", {0, 1, 0.25, 0.5}}}, .values = {.low = 0, .high = 1}};
}

}  // namespace

TEST_CASE("plot: a sequential colour map gets darker all the way, a diverging one to both sides") {
  for (int i = 0; i < 100; ++i) {
    const double share = i / 100.0;
    CHECK(luminance(mapped(ColourMap::sequential, share)) > luminance(mapped(ColourMap::sequential, share + 0.01)));
    const double one = luminance(mapped(ColourMap::diverging, 0.5 + share / 2));
    CHECK(one > luminance(mapped(ColourMap::diverging, 0.5 + (share + 0.01) / 2)));
    CHECK(std::abs(one - luminance(mapped(ColourMap::diverging, 0.5 - share / 2))) < 0.06);
  }
  // The pale end differs from paper, where cells that do not exist are.
  CHECK(mapped(ColourMap::sequential, 0).blue < 200);
  // One side is blue, the other has none of it: red and green alone may look alike.
  CHECK(mapped(ColourMap::diverging, 0.2).blue > mapped(ColourMap::diverging, 0.2).red + 60);
  CHECK(mapped(ColourMap::diverging, 0.8).red > mapped(ColourMap::diverging, 0.8).blue + 60);
  CHECK(mapped(ColourMap::sequential, -3) == mapped(ColourMap::sequential, 0));
  CHECK(mapped(ColourMap::diverging, 3) == mapped(ColourMap::diverging, 1));
}

TEST_CASE("plot: the cells of a heat map have the colours of their values") {
  HeatMap figure = two_by_two();
  const Canvas canvas = drawn(figure);
  const Drawing drawing(canvas);
  const auto n = [&](double value) { return drawing.count(mapped(ColourMap::sequential, value)); };
  CHECK(n(0) > 3000);
  CHECK(n(0.25) == doctest::Approx(n(0)).epsilon(0.03));
  CHECK(n(1) == doctest::Approx(n(0)).epsilon(0.03));
  // The first row is the upper one: left 0, right 1; below it 0.25 and 0.5.
  int first_row_of[2] = {0, 0};
  for (int row = canvas.height() - 1; row >= 0; --row) {
    if (canvas.at(40, row) == mapped(ColourMap::sequential, 0)) first_row_of[0] = row;
    if (canvas.at(40, row) == mapped(ColourMap::sequential, 0.25)) first_row_of[1] = row;
  }
  CHECK(first_row_of[0] > 0);
  CHECK(first_row_of[0] < first_row_of[1]);
  // Numbers leave ink in the cells.
  figure.has_numbers = true;
  CHECK(Drawing(drawn(figure)).count(mapped(ColourMap::sequential, 0)) < n(0) - 40);
}

TEST_CASE("plot: without a colour bar only the colours of cells are there") {
  HeatMap figure = two_by_two();
  const auto pixels_of_the_bar = [&] {
    const Canvas canvas = drawn(figure);
    int n = 0;
    for (int i = 0; i <= 1000; ++i) {  // most of these colours are the bar's alone
      const Colour colour = mapped(ColourMap::sequential, i / 1000.0);
      const bool is_of_cell = std::ranges::any_of(
          figure.panels[0].values, [&](double value) { return mapped(ColourMap::sequential, value) == colour; });
      if (!is_of_cell) n += Drawing(canvas).count(colour);
    }
    return n;
  };
  CHECK(pixels_of_the_bar() > 1000);
  figure.has_colour_bar = false;
  CHECK(pixels_of_the_bar() == 0);
}

TEST_CASE("plot: cells that do not exist are white, values that are no numbers are crosses") {
  HeatMap figure = two_by_two();
  figure.panels[0].is_missing = {0, 1, 0, 0};
  const Drawing masked(drawn(figure));
  CHECK(masked.count(mapped(ColourMap::sequential, 1)) < 100);  // the colour bar has some of it
  CHECK(masked.count(series_colour(1)) == 0);
  figure.panels[0].values[1] = kNan;
  CHECK(Drawing(drawn(figure)).count(series_colour(1)) == 0);  // it does not exist, whatever its value
  figure.panels[0].is_missing = {};
  CHECK(Drawing(drawn(figure)).count(series_colour(1)) > 10);
}

TEST_CASE("plot: several panels of a heat map, with names at the left and below") {
  HeatMap figure = two_by_two();
  figure.row_names = {"up", "down"};
  figure.column_names = {"left", "right"};
  const int one = Drawing(drawn(figure)).count(mapped(ColourMap::sequential, 0));
  for (int i = 0; i < 3; ++i) figure.panels.push_back({"head", {1, 1, 1, 0}});
  const Canvas canvas = drawn(figure);
  CHECK(Drawing(canvas).count(mapped(ColourMap::sequential, 0)) > 3 * 400);
  CHECK(Drawing(canvas).count(mapped(ColourMap::sequential, 0)) < 4 * one);
  figure.n_across = 1;
  CHECK(drawn(figure).height() > canvas.height());
}

TEST_CASE("plot: a diverging map reaches as far below zero as above") {
  HeatMap figure = {.n_rows = 1, .n_columns = 3, .panels = {{"", {-1, 0, 4}}}, .colours = ColourMap::diverging};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.count(mapped(ColourMap::diverging, 0.5)) > 1000);
  CHECK(drawing.count(mapped(ColourMap::diverging, 1)) > 1000);
  CHECK(drawing.count(mapped(ColourMap::diverging, 0.375)) > 1000);
  CHECK(terminal_text(figure, 30) == "-▒░░██\n-4 -█ -▓ -▒ -░ ░▒▓█ 4\n");
}

TEST_CASE("plot: a heat map in a terminal") {
  HeatMap figure = two_by_two();
  CHECK(terminal_text(figure, 30) == "░░██\n▒▒▓▓\n0 ░▒▓█ 1\n");
  figure.title = "title";
  figure.rows_label = "query";
  figure.columns_label = "key";
  figure.row_names = {"a", "old"};
  figure.column_names = {"a", "old"};
  figure.panels.push_back({"two", {kNan, 0, 0, 1}, {0, 1, 0, 0}});
  CHECK(terminal_text(figure, 30) ==
        "title\n"
        "query ↓  key →\n"
        "          two\n"
        "  a ░░██  ??\n"
        "old ▒▒▓▓  ░░██\n"
        "    a o   a o\n"
        "      l     l\n"
        "      d     d\n"
        "    0 ░▒▓█ 1\n");
  figure.has_numbers = true;
  figure.decimals = 1;
  figure.panels.resize(1);
  CHECK(terminal_text(figure, 30) ==
        "title\n"
        "query ↓  key →\n"
        "  a  0.0 1.0\n"
        "old  0.2 0.5\n"
        "       a old\n");
}

TEST_CASE("plot: a heat map in a terminal with colours") {
  HeatMap figure = two_by_two();
  const std::string text = terminal_text(figure, 30, 10, true);
  const int low = nearest_terminal_colour(mapped(ColourMap::sequential, 0));
  CHECK(text.substr(0, text.find('m')) == "\033[48;5;" + std::to_string(low) + ";38;5;16");
  CHECK(text.find("░") == std::string::npos);
  CHECK(nearest_terminal_colour({255, 255, 255}) == 231);
  CHECK(nearest_terminal_colour({95, 135, 0}) == 64);
  CHECK(colour_of_terminal(64) == Colour{95, 135, 0});
  CHECK(colour_of_terminal(244) == Colour{128, 128, 128});
}

TEST_CASE("plot: large heat maps show means of neighbours") {
  HeatMap figure = {.n_rows = 10000, .n_columns = 3, .values = {.low = 0, .high = 1}};
  HeatMapPanel panel;
  for (int row = 0; row < 10000; ++row) {
    for (int column = 0; column < 3; ++column) panel.values.push_back(row % 2);
  }
  figure.panels = {panel};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.canvas.height() < 2400);
  CHECK(drawing.count(mapped(ColourMap::sequential, 0)) < 100);
  const std::string text = terminal_text(figure, 30, 10);
  CHECK(text.find("▓▓▓▓▓▓\n") != std::string::npos);
  CHECK(text.size() < 600);
}

TEST_CASE("plot: heat maps of little and extreme data are drawn") {
  const std::string long_name(3000, 'x');
  for (const ColourMap colours : {ColourMap::sequential, ColourMap::diverging}) {
    for (const std::vector<double>& values :
         std::vector<std::vector<double>>{{kNan}, {0}, {7}, {-1.7e308}, {1e-320}, {INFINITY}}) {
      HeatMap figure = {.title = long_name, .n_rows = 1, .n_columns = 1, .colours = colours};
      figure.panels = {{long_name, values}};
      figure.row_names = {long_name};
      figure.column_names = {"\u6a21\u578b\xff"};
      figure.rows_label = figure.columns_label = figure.values.label = long_name;
      figure.has_numbers = true;
      CHECK(drawn(figure).at(0, 0) == kWhite);
      CHECK_FALSE(terminal_text(figure).empty());
    }
  }
  CHECK(drawn(HeatMap{}).at(0, 0) == kWhite);
  CHECK(terminal_text(HeatMap{}) == "0 ░▒▓█ 1\n");
  CHECK(drawn({.panels = {{}}}).at(0, 0) == kWhite);
}

TEST_CASE("plot: heat maps that cannot be drawn are an Error") {
  HeatMap figure = two_by_two();
  figure.panels[0].title = "odd";
  figure.panels[0].values.pop_back();
  CHECK_THROWS_WITH_AS(drawn(figure), doctest::Contains("odd"), Error);
  figure = two_by_two();
  figure.panels[0].is_missing = {1};
  CHECK_THROWS_AS(terminal_text(figure), Error);
  figure = two_by_two();
  figure.row_names = {"one"};
  CHECK_THROWS_AS(drawn(figure), Error);
  figure = two_by_two();
  figure.height = 50;
  CHECK_THROWS_AS(drawn(figure), Error);
  figure = two_by_two();
  figure.values = {.scale = Scale::logarithmic};
  figure.colours = ColourMap::diverging;
  CHECK_THROWS_AS(drawn(figure), Error);
  CHECK_THROWS_AS(drawn({.n_rows = size_t{1} << 63, .n_columns = 2, .panels = {{}}}), Error);
}
