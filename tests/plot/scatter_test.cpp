#include "plot/scatter.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

TEST_CASE("plot: a scatter has a series for each kind, and names where there are some") {
  Scatter scatter = {.title = "Pets",
                     .kinds = {"cats", "dogs", "cows"},
                     .places = {{1, 2}, {3, 4}, {5, 6}},
                     .kind_of = {1, 0, 1},
                     .names = {"Rex", "", "Fido"}};
  const LineFigure figure = figure_of(scatter);
  REQUIRE(figure.series.size() == 3);
  CHECK(figure.title == "Pets");
  CHECK(figure.series[0].name == "cats");
  CHECK(figure.series[0].x == std::vector<double>{3});
  CHECK(figure.series[1].x == std::vector<double>{1, 5});
  CHECK(figure.series[1].y == std::vector<double>{2, 6});
  CHECK(figure.series[1].style == Style::points);
  CHECK(figure.series[2].x.empty());
  REQUIRE(figure.points.size() == 2);
  CHECK(figure.points[1].name == "Fido");
  CHECK(figure.points[1].y == 6);
  CHECK_NOTHROW(drawn(figure));
  scatter.names.clear();
  CHECK(figure_of(scatter).points.empty());
}

TEST_CASE("plot: what is no scatter is refused") {
  const Scatter good = {.kinds = {"cats"}, .places = {{1, 2}}, .kind_of = {0}};
  CHECK_NOTHROW(figure_of(good));
  Scatter bad = good;
  bad.kind_of = {1};
  CHECK_THROWS_AS(figure_of(bad), Error);
  bad.kind_of = {-1};
  CHECK_THROWS_AS(figure_of(bad), Error);
  bad.kind_of = {};
  CHECK_THROWS_AS(figure_of(bad), Error);
  bad = good;
  bad.places = {{1, 2, 3}};
  CHECK_THROWS_AS(figure_of(bad), Error);
  bad = good;
  bad.names = {"Tom", "Kitty"};
  CHECK_THROWS_AS(figure_of(bad), Error);
}
