#include "learn/principal_components.h"

#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"

using namespace orrery;

namespace {

using Rows = std::vector<std::vector<double>>;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

TEST_CASE("learn: principal components of points in a plane, by hand") {
  // Along (3, 4) / 5 at -2, 0 and 2, along (4, -3) / 5 at 1, -2 and 1; and all moved by (7, -1).
  const Rows points = {{7 - 1.2 + 0.8, -1 - 1.6 - 0.6}, {7 - 1.6, -1 + 1.2}, {7 + 1.2 + 0.8, -1 + 1.6 - 0.6}};
  const PrincipalComponents found = principal_components(points, 2);
  CHECK(found.directions[0][0] == doctest::Approx(0.6));
  CHECK(found.directions[0][1] == doctest::Approx(0.8));
  CHECK(found.directions[1][0] == doctest::Approx(0.8));
  CHECK(found.directions[1][1] == doctest::Approx(-0.6));
  CHECK(found.shares[0] == doctest::Approx(8.0 / 14));
  CHECK(found.shares[1] == doctest::Approx(6.0 / 14));
  const Rows expected = {{-2, 1}, {0, -2}, {2, 1}};
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t k = 0; k < 2; ++k) {
      CHECK(found.coordinates[i][k] == doctest::Approx(expected[i][k]).epsilon(1e-12).scale(1));
    }
  }
}

TEST_CASE("learn: all principal components together are the points again, turned") {
  Random random(5);
  constexpr size_t d = 9;
  Rows points(40, std::vector<double>(d));
  for (auto& point : points) {
    for (size_t j = 0; j < d; ++j) point[j] = random.normal() * static_cast<double>(j + 1) + (j > 0 ? point[j - 1] : 3);
  }
  const PrincipalComponents found = principal_components(points, d);
  double sum = 0;
  for (size_t i = 0; i < d; ++i) {
    sum += found.shares[i];
    if (i > 0) CHECK(found.shares[i] <= found.shares[i - 1]);
    for (size_t j = 0; j < d; ++j) {
      CHECK(std::abs(dot(found.directions[i], found.directions[j]) - (i == j ? 1 : 0)) < 1e-12);
      // What lies in one direction says nothing about what lies in another.
      double together = 0;
      for (const auto& point : found.coordinates) together += point[i] * point[j];
      if (i != j) CHECK(std::abs(together) < 1e-9);
    }
  }
  CHECK(sum == doctest::Approx(1));
  // Distances stay.
  for (size_t k = 1; k < points.size(); ++k) {
    double before = 0, after = 0;
    for (size_t j = 0; j < d; ++j) {
      before += std::pow(points[k][j] - points[0][j], 2);
      after += std::pow(found.coordinates[k][j] - found.coordinates[0][j], 2);
    }
    CHECK(after == doctest::Approx(before));
  }
  // Fewer of them are the first of these.
  const PrincipalComponents two = principal_components(points, 2);
  CHECK(two.directions == Rows(found.directions.begin(), found.directions.begin() + 2));
  CHECK(two.coordinates[3].size() == 2);
}

TEST_CASE("learn: principal components of a single place, and of what is none") {
  const PrincipalComponents found = principal_components({{1, 2}, {1, 2}}, 1);
  CHECK(found.shares[0] == 0);
  CHECK(found.coordinates[1][0] == 0);
  CHECK_THROWS_AS(principal_components({}, 1), Error);
  CHECK_THROWS_AS(principal_components({{1, 2}, {1}}, 1), Error);
  CHECK_THROWS_AS(principal_components({{1, 2}}, 0), Error);
  CHECK_THROWS_AS(principal_components({{1, 2}}, 3), Error);
}
