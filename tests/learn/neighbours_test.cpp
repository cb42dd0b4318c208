#include "learn/neighbours.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

TEST_CASE("learn: the nearest point by direction, and its kind") {
  // Two directions; length does not matter, or (9, 1) would be nearest to (8, 8).
  const std::vector<std::vector<double>> points = {{1, 0}, {9, 1}, {0, 2}, {1, 9}, {8, 8}};
  CHECK(same_kind_share(points, std::vector{1, 1, 2, 2, 3}) == doctest::Approx(4.0 / 5));
  CHECK(same_kind_share(points, std::vector{1, 2, 1, 2, 3}) == 0);
  CHECK(same_kind_share(points, std::vector{1, 1, 2, 2, 2}) == doctest::Approx(4.5 / 5));  // two are as near to it
}

TEST_CASE("learn: points of which many are the same") {
  const std::vector<std::vector<double>> points = {{1, 2}, {2, 4}, {3, 6}, {0, 0}};
  // Each of the first three has two nearest; the last is equally far from all.
  CHECK(same_kind_share(points, std::vector{1, 1, 2, 2}) == doctest::Approx((0.5 + 0.5 + 0 + 1.0 / 3) / 4));
  CHECK_THROWS_AS(same_kind_share(points, std::vector{1, 2}), Error);
  CHECK_THROWS_AS(same_kind_share({{1.0}}, std::vector{1}), Error);
}
