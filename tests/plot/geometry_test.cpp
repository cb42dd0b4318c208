#include "plot/geometry.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "plot/series.h"
#include "plot/stroke_letters.h"

using namespace orrery;

namespace {

bool same(const std::vector<Point>& one, const std::vector<Point>& other) {
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (is_finite(one[i]) != is_finite(other[i])) return false;
    if (is_finite(one[i]) && (one[i].x != other[i].x || one[i].y != other[i].y)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("plot: the part of a line in a box") {
  const Box box = {0, 0, 10, 10};
  const Visible through = visible_part({-10, 5}, {30, 5}, box);
  CHECK(through.begin == 0.25);
  CHECK(through.end == 0.5);
  const Visible corner = visible_part({5, 5}, {15, -5}, box);
  CHECK(corner.begin == 0);
  CHECK(corner.end == 0.5);
  CHECK(visible_part({-5, 5}, {5, 16}, box).is_empty());
  CHECK(visible_part({11, 0}, {11, 10}, box).is_empty());
  CHECK_FALSE(visible_part({10, 0}, {10, 10}, box).is_empty());
  CHECK_FALSE(visible_part({3, 3}, {3, 3}, box).is_empty());
  CHECK(visible_part({3, 30}, {3, 30}, box).is_empty());
  CHECK(visible_part({NAN, 3}, {3, 3}, box).is_empty());
}

TEST_CASE("plot: thinned points keep the first, lowest, highest and last of a column") {
  const std::vector<Point> points = {{3.0, 5}, {3.1, 9}, {3.2, 6}, {3.3, 1}, {3.9, 4}, {4.0, 2}, {4.5, 2}};
  CHECK(same(thinned(points), {{3.0, 5}, {3.1, 9}, {3.3, 1}, {3.9, 4}, {4.0, 2}, {4.5, 2}}));
  const std::vector<Point> gap = {{1.0, 1}, {1.2, NAN}, {1.4, 1}, {1.5, 1}, {1.6, 2}};
  CHECK(same(thinned(gap), {{1.0, 1}, {1.2, NAN}, {1.4, 1}, {1.6, 2}}));
  CHECK(thinned({}).empty());
}

TEST_CASE("plot: a smoothed series") {
  const Series series = {.name = "s", .x = {0, 1, 2, 3, 4}, .y = {1, 2, 6, 4, 9}};
  const Series mean = smoothed(series, 3);
  CHECK(mean.name == "s");
  CHECK(mean.x == series.x);
  CHECK(mean.y == std::vector<double>{1, 3, 4, 19.0 / 3, 9});
  CHECK(smoothed(series, 2).y == mean.y);
  CHECK(smoothed(series, 5).y == std::vector<double>{1, 3, 22.0 / 5, 19.0 / 3, 9});
  CHECK(smoothed(series, 1).y == series.y);
  CHECK(smoothed(series, 0).y == series.y);
  CHECK(smoothed({}, 3).y.empty());
  // A straight line stays itself up to its ends.
  CHECK(smoothed({.x = {0, 1, 2, 3, 4, 5}, .y = {5, 7, 9, 11, 13, 15}}, 5).y ==
        std::vector<double>{5, 7, 9, 11, 13, 15});
}

TEST_CASE("plot: gaps do not spoil their neighbours' mean") {
  const Series mean = smoothed({.x = {0, 1, 2, 3}, .y = {1, NAN, 4, INFINITY}}, 3);
  CHECK(mean.y[0] == 1);
  CHECK(std::isnan(mean.y[1]));
  CHECK(mean.y[2] == 4);
  CHECK(std::isinf(mean.y[3]));
}

TEST_CASE("plot: the window of a noisy series is a fiftieth, and odd") {
  Series series;
  CHECK(window_of(series) == 1);
  series.y.assign(1000, 0);
  CHECK(window_of(series) == 21);
  series.y.assign(200000, 0);
  CHECK(window_of(series) == 1001);
  series.window = 8;
  CHECK(window_of(series) == 9);
}

TEST_CASE("plot: letters are strokes between neighbouring dots") {
  // A capital L: a stem of seven dots, a foot of four; each dot is a stroke of its own as well.
  double left = 9, right = -9, top = 9, bottom = -9;
  for (const Stroke& stroke : letter_strokes("L")) {
    for (const Point point : {stroke.from, stroke.to}) {
      left = std::min(left, point.x);
      right = std::max(right, point.x);
      top = std::min(top, point.y);
      bottom = std::max(bottom, point.y);
      CHECK((point.x == left || point.y == 0));
    }
  }
  CHECK(left == 0);
  CHECK(right == 3);
  CHECK(top == -6);
  CHECK(bottom == 0);
  CHECK(letter_strokes("L").size() == 10 + 9);
  for (const Stroke& stroke : letter_strokes("p")) CHECK(stroke.to.y <= 2);
  CHECK(letter_strokes(" ").empty());
  // The second letter stands where the first one's width says.
  CHECK(letter_strokes("LL")[19].from.x == letters_width("LL") - letters_width("L"));
}

TEST_CASE("plot: what is not ASCII is one box a character") {
  CHECK(letter_strokes("\u00e9").size() == 4);
  CHECK(letter_strokes("\u4e2d\u6587").size() == 8);
  CHECK(letter_strokes("\xff\x01\n").size() == 12);  // broken UTF-8 and control characters
  CHECK(letters_width("") == 0);
}
