#include "plot/bar_figure.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/field_finder.h"
#include "support/files.h"

using namespace orrery;
using orrery::test::Drawing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two names, two series, values from 0 to 10.
BarFigure two_by_two() {
  return {
      .names = {"one", "two"}, .values = {.low = 0, .high = 10}, .series = {{"first", {5, 2}}, {"second", {8, kNan}}}};
}

}  // namespace

TEST_CASE("plot: grouped bars stand side by side as high as their values") {
  const Drawing drawing(drawn(two_by_two()));
  // Each name has half of the width, each bar 38 % of that.
  CHECK(drawing.in_field(0.05, 0.25) == kWhite);
  CHECK(drawing.in_field(0.07, 0.25) == series_colour(0));
  CHECK(drawing.in_field(0.16, 0.48) == series_colour(0));
  CHECK(drawing.in_field(0.16, 0.53) == kWhite);
  CHECK(drawing.in_field(0.34, 0.78) == series_colour(1));
  CHECK(drawing.in_field(0.34, 0.83) == kWhite);
  CHECK(drawing.in_field(0.66, 0.18) == series_colour(0));
  CHECK(drawing.in_field(0.84, 0.05) == kWhite);  // NaN
  CHECK(drawing.in_field(0.5, 0.05) == kWhite);   // between the groups
  CHECK(drawing.canvas.height() == 540);
}

TEST_CASE("plot: horizontal bars begin at the left, the first name at the top") {
  BarFigure figure = two_by_two();
  figure.is_horizontal = true;
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.48, 0.84) == series_colour(0));
  CHECK(drawing.in_field(0.53, 0.84) == kWhite);
  CHECK(drawing.in_field(0.78, 0.66) == series_colour(1));
  CHECK(drawing.in_field(0.18, 0.34) == series_colour(0));
  CHECK(drawing.in_field(0.1, 0.16) == kWhite);
  // More names make a higher picture.
  figure.names.assign(20, "name");
  figure.series = {{"", std::vector<double>(20, 1)}};
  CHECK(drawn(figure).height() > 600);
}

TEST_CASE("plot: stacked bars add up, what is negative below zero") {
  BarFigure figure = {.names = {"one"},
                      .values = {.low = -10, .high = 10},
                      .series = {{"a", {2}}, {"b", {-4}}, {"c", {6}}, {"d", {-2}}},
                      .style = BarStyle::stacked};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.5, 0.55) == series_colour(0));
  CHECK(drawing.in_field(0.5, 0.75) == series_colour(2));
  CHECK(drawing.in_field(0.5, 0.93) == kWhite);
  CHECK(drawing.in_field(0.5, 0.35) == series_colour(1));
  CHECK(drawing.in_field(0.5, 0.25) == series_colour(3));
  CHECK(drawing.in_field(0.5, 0.17) == kWhite);
  // A line at zero.
  CHECK(drawing.in_field(0.05, 0.5) == kInk);
}

TEST_CASE("plot: a ruler of magnitudes has marks on a logarithmic axis") {
  const BarFigure figure = {.names = {"small", "large"},
                            .values = {.scale = Scale::logarithmic, .low = 1, .high = 10000},
                            .series = {{"", {10, 1000}}},
                            .style = BarStyle::points,
                            .is_horizontal = true};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.25, 0.75) == series_colour(0));
  CHECK(drawing.in_field(0.75, 0.25) == series_colour(0));
  CHECK(drawing.in_field(0.1, 0.75) != series_colour(0));
}

TEST_CASE("plot: bars on a logarithmic axis begin below the smallest value") {
  BarFigure figure = {.names = {"a", "b"}, .values = {.scale = Scale::logarithmic}, .series = {{"", {1, 1000}}}};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.25, 0.1) == series_colour(0));
  CHECK(drawing.in_field(0.75, 0.9) == series_colour(0));
  CHECK(drawing.in_field(0.25, 0.5) != series_colour(0));
  figure.style = BarStyle::stacked;
  CHECK_THROWS_AS(drawn(figure), Error);
}

TEST_CASE("plot: numbers stand above bars, and in bars that reach the top") {
  BarFigure figure = {.names = {"a"}, .values = {.low = 0, .high = 10}, .series = {{"", {5}}}};
  const int without = Drawing(drawn(figure)).count(kInk);
  figure.has_numbers = true;
  const Drawing above(drawn(figure));
  CHECK(above.count(kInk) > without + 10);
  figure.series[0].values[0] = 10;
  const Drawing inside(drawn(figure));
  CHECK(inside.count(series_colour(0)) > 10000);
  int n = 0;
  for (int row = inside.field.top; row < inside.field.top + 30; ++row) {
    for (int column = inside.field.left + 1; column < inside.field.right; ++column) {
      n += inside.canvas.at(column, row) == words_on(series_colour(0));
    }
  }
  CHECK(n > 10);
}

TEST_CASE("plot: bars in a terminal") {
  BarFigure figure = {.title = "bars",
                      .names = {"one", "three"},
                      .values = {.label = "n", .low = 0, .high = 10},
                      .series = {{"a", {5, 2.5}}, {"b", {10, kNan}}}};
  // Ten columns for ten, and a number of four characters.
  CHECK(terminal_text(figure, 21) ==
        "bars\n"
        "  one ┤█████ 5\n"
        "      │▒▒▒▒▒▒▒▒▒▒ 10\n"
        "three ┤██▌ 2.5\n"
        "      └──────────\n"
        "       0   n   10\n"
        "       ██ a   ▒▒ b\n");
  figure.series = {{"a", {5, 2.5}}, {"b", {4, -1}}};
  figure.style = BarStyle::stacked;
  figure.values = {.low = -2, .high = 10};
  figure.title = "";
  CHECK(terminal_text(figure, 23) ==
        "  one ┤  █████▒▒▒▒ 9\n"
        "three ┤ ▒██ 1.5\n"
        "      └────────────\n"
        "       -2        10\n"
        "       ██ a   ▒▒ b\n");
}

TEST_CASE("plot: a ruler and colours in a terminal") {
  BarFigure figure = {.names = {"a", "bb"},
                      .values = {.scale = Scale::logarithmic, .low = 1, .high = 10000},
                      .series = {{"", {100, 10000}}},
                      .style = BarStyle::points};
  CHECK(terminal_text(figure, 20) ==
        " a ┤──────● 100\n"
        "bb ┤───────────● 10k\n"
        "   └────────────\n"
        "    1        10k\n");
  figure.style = BarStyle::grouped;
  figure.series = {{"x", {100, kNan}}, {"y", {kNan, 100}}};
  const std::string text = terminal_text(figure, 20, true);
  CHECK(text.find("\033[38;5;32m██████\033[0m 100") != std::string::npos);
  CHECK(text.find("\033[38;5;166m██████\033[0m 100") != std::string::npos);
  CHECK(text.find("▒") == std::string::npos);
}

TEST_CASE("plot: bars of little, extreme and many values are drawn") {
  const std::string long_name(3000, 'x');
  const std::string chinese = "\u6a21\u578b\u7684\u5927\u5c0f";
  for (const bool is_horizontal : {false, true}) {
    for (const BarStyle style : {BarStyle::grouped, BarStyle::stacked, BarStyle::points}) {
      for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        if (style == BarStyle::stacked && scale == Scale::logarithmic) continue;
        BarFigure figure = {.title = long_name, .values = {.label = long_name, .scale = scale}, .style = style};
        figure.is_horizontal = is_horizontal;
        figure.has_numbers = true;
        CHECK(drawn(figure).at(0, 0) == kWhite);
        CHECK_FALSE(terminal_text(figure).empty());
        figure.names = {long_name, chinese, "\xff\033", "", "e"};
        figure.series = {{long_name, {kNan, INFINITY, -INFINITY, 1e-320, 1.7e308}},
                         {chinese, {0, -1.7e308, 1.7e308, 5, kNan}}};
        CHECK(drawn(figure).at(0, 0) == kWhite);
        CHECK(terminal_text(figure, 40, true).find("\033[2") == std::string::npos);
      }
    }
  }
  BarFigure many = {.names = std::vector<std::string>(10000, "n"), .series = {{"", std::vector<double>(10000, 2)}}};
  many.has_numbers = true;
  CHECK(Drawing(drawn(many)).in_field(0.5, 0.5) != kWhite);
  many.is_horizontal = true;
  CHECK(drawn(many).height() == 2400);
}

TEST_CASE("plot: bars that cannot be drawn are an Error") {
  BarFigure figure = two_by_two();
  figure.series[1] = {"short", {1}};
  CHECK_THROWS_WITH_AS(drawn(figure), doctest::Contains("short"), Error);
  CHECK_THROWS_AS(terminal_text(figure), Error);
  CHECK_THROWS_AS(terminal_text(two_by_two(), 10), Error);
  const orrery::test::TemporaryFolder folder;
  CHECK_THROWS_AS(write_png(two_by_two(), folder / "missing/bars.png"), Error);
  CHECK(std::filesystem::is_empty(folder.path()));
}
