#include "plot/area_figure.h"

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

AreaFigure two_areas() {
  return {.y_axis = {.low = 0, .high = 10}, .x = {0, 10}, .areas = {{"below", {2, 6}}, {"above", {3, 3}}}};
}

}  // namespace

TEST_CASE("plot: areas lie on top of each other") {
  const Drawing drawing(drawn(two_areas()));
  CHECK(drawing.in_field(0.03, 0.1) == series_colour(0));
  CHECK(drawing.in_field(0.03, 0.4) == series_colour(1));
  CHECK(drawing.in_field(0.03, 0.56) == kWhite);
  CHECK(drawing.in_field(0.52, 0.35) == series_colour(0));
  CHECK(drawing.in_field(0.52, 0.65) == series_colour(1));
  CHECK(drawing.in_field(0.97, 0.55) == series_colour(0));
  CHECK(drawing.in_field(0.97, 0.85) == series_colour(1));
  CHECK(drawing.in_field(0.97, 0.93) == kWhite);
}

TEST_CASE("plot: areas with steps hold a value until the next") {
  AreaFigure figure = two_areas();
  figure.has_steps = true;
  figure.x = {0, 5, 10};
  figure.areas = {{"", {2, 8, 8}}};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.45, 0.15) == series_colour(0));
  CHECK(drawing.in_field(0.45, 0.3) == kWhite);
  CHECK(drawing.in_field(0.55, 0.7) == series_colour(0));
}

TEST_CASE("plot: a peak of areas between two pixels is seen") {
  AreaFigure figure = {.y_axis = {.low = 0, .high = 10}};
  figure.areas = {{"", {}}};
  for (int i = 0; i < 10000; ++i) {
    figure.x.push_back(i);
    figure.areas[0].y.push_back(i == 5003 ? 9 : 1);
  }
  const Drawing drawing(drawn(figure));
  int n = 0;
  for (int column = drawing.field.left + 1; column < drawing.field.right; ++column) {
    const int middle = (drawing.field.bottom + drawing.field.top) / 2;
    n += drawing.canvas.at(column, middle) == series_colour(0);
  }
  CHECK(n >= 1);
  CHECK(n < 4);
}

TEST_CASE("plot: a value that is not finite is a gap in all areas") {
  AreaFigure figure = two_areas();
  figure.x = {0, 4, 6, 10};
  figure.areas = {{"", {2, 2, 2, 2}}, {"", {2, kNan, 2, 2}}};
  const Drawing drawing(drawn(figure));
  CHECK(drawing.in_field(0.3, 0.1) == kWhite);
  CHECK(drawing.in_field(0.7, 0.1) == series_colour(0));
}

TEST_CASE("plot: areas in a terminal") {
  AreaFigure figure = two_areas();
  figure.title = "areas";
  figure.areas = {{"low", {5, 5}}, {"high", {0, 5}}};
  figure.x_axis.label = "x";
  CHECK(terminal_text(figure, 20, 4) ==
        "    areas\n"
        "10 ┤            ▒▒▒▒\n"
        "   │    ▒▒▒▒▒▒▒▒▒▒▒▒\n"
        "   │████████████████\n"
        " 0 ┤████████████████\n"
        "   └┬───────┬──────┬\n"
        "    0       5     10\n"
        "           x\n"
        "    ▒▒ high   ██ low\n");
  const std::string text = terminal_text(figure, 20, 4, true);
  CHECK(text.find("\033[38;5;166m████\033[0m\n") != std::string::npos);
  CHECK(text.find("▒") == std::string::npos);
}

TEST_CASE("plot: levels and moments of areas") {
  AreaFigure figure = two_areas();
  figure.levels = {{"limit", 9}};
  figure.moments = {{"here", 5}};
  const std::string text = terminal_text(figure, 40, 10);
  CHECK(text.find("┄┄┄┄┄┄") != std::string::npos);
  CHECK(text.find("┊ here (5)") != std::string::npos);
  const Drawing drawing(drawn(figure));
  CHECK(drawing.count(kQuiet) > 300);
}

TEST_CASE("plot: areas of little and extreme data are drawn") {
  for (const std::vector<double>& x : std::vector<std::vector<double>>{{}, {3}, {3, 3}, {-1e308, 1e308}, {0, 1e-320}}) {
    for (const double y : {0.0, 1.0, 1e-320, 1.7e308, kNan, static_cast<double>(INFINITY)}) {
      for (const bool has_steps : {false, true}) {
        AreaFigure figure = {.title = std::string(3000, 'x'), .x = x};
        figure.areas = {{"\u6a21", std::vector<double>(x.size(), y)}, {"", std::vector<double>(x.size(), y)}};
        figure.has_steps = has_steps;
        CHECK(drawn(figure).at(0, 0) == kWhite);
        CHECK_FALSE(terminal_text(figure).empty());
      }
    }
  }
  CHECK(drawn(AreaFigure{}).at(0, 0) == kWhite);
}

TEST_CASE("plot: areas that cannot be drawn are an Error") {
  AreaFigure figure = two_areas();
  figure.areas[1].y.pop_back();
  CHECK_THROWS_WITH_AS(drawn(figure), doctest::Contains("above"), Error);
  figure = two_areas();
  figure.areas[0].y[1] = -1;
  CHECK_THROWS_WITH_AS(terminal_text(figure), doctest::Contains("negative"), Error);
  figure = two_areas();
  figure.x = {1, 0};
  CHECK_THROWS_WITH_AS(drawn(figure), doctest::Contains("ascend"), Error);
  figure.x = {0, kNan};
  CHECK_THROWS_AS(drawn(figure), Error);
  figure = two_areas();
  figure.y_axis = {.scale = Scale::logarithmic};
  CHECK_THROWS_AS(drawn(figure), Error);
}
