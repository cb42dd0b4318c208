#include "learn/principal_components.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

#include "base/error.h"

namespace orrery {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix centred(Matrix points) {
  for (size_t j = 0; j < points[0].size(); ++j) {
    double mean = 0;
    for (const auto& point : points) mean += point[j] / static_cast<double>(points.size());
    for (auto& point : points) point[j] -= mean;
  }
  return points;
}

Matrix covariance(const Matrix& points) {
  const size_t d = points[0].size();
  Matrix sums(d, std::vector<double>(d, 0));
  for (const auto& point : points) {
    for (size_t i = 0; i < d; ++i) {
      for (size_t j = 0; j < d; ++j) sums[i][j] += point[i] * point[j] / static_cast<double>(points.size());
    }
  }
  return sums;
}

// Turns rows and columns p and q of the symmetric matrix so that a[p][q] becomes 0, and the directions with them.
void rotate(Matrix& a, Matrix& directions, size_t p, size_t q) {
  if (a[p][q] == 0) return;
  const double slope = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double tangent = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::hypot(slope, 1));
  const double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
  const auto turn = [&](double& x, double& y) {
    const double before = x;
    x = cosine * before - sine * y;
    y = sine * before + cosine * y;
  };
  for (size_t k = 0; k < a.size(); ++k) turn(a[k][p], a[k][q]);
  for (size_t k = 0; k < a.size(); ++k) turn(a[p][k], a[q][k]);
  a[p][q] = a[q][p] = 0;
  for (size_t k = 0; k < a.size(); ++k) turn(directions[p][k], directions[q][k]);
}

// Afterwards the diagonal has the eigenvalues, and row i of what is returned the direction of number i.
Matrix diagonalize(Matrix& a) {
  constexpr int kSweeps = 60;  // ten are enough for hundreds of columns
  Matrix directions(a.size(), std::vector<double>(a.size(), 0));
  double size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    directions[i][i] = 1;
    for (const double value : a[i]) size += std::abs(value);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double rest = 0;
    for (size_t p = 0; p < a.size(); ++p) {
      for (size_t q = p + 1; q < a.size(); ++q) rest += std::abs(a[p][q]);
    }
    if (rest <= 1e-15 * size) break;
    for (size_t p = 0; p < a.size(); ++p) {
      for (size_t q = p + 1; q < a.size(); ++q) rotate(a, directions, p, q);
    }
  }
  return directions;
}

void check(const Matrix& points, size_t count) {
  if (points.empty()) throw Error({.what = "principal components need at least one point"});
  for (const auto& point : points) {
    if (point.size() == points[0].size()) continue;
    throw Error({.what = "points need the same length",
                 .expected = std::to_string(points[0].size()) + " numbers",
                 .found = std::to_string(point.size())});
  }
  if (count >= 1 && count <= points[0].size()) return;
  throw Error({.what = "there are not so many principal components",
               .expected = "1 to " + std::to_string(points[0].size()),
               .found = std::to_string(count)});
}

}  // namespace

PrincipalComponents principal_components(const Matrix& points, size_t count) {
  check(points, count);
  const Matrix from_mean = centred(points);
  Matrix a = covariance(from_mean);
  const size_t d = a.size();
  double variance = 0;
  for (size_t i = 0; i < d; ++i) variance += a[i][i];
  const Matrix directions = diagonalize(a);
  std::vector<size_t> order(d);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return a[i][i] > a[j][j]; });

  PrincipalComponents found{.coordinates = Matrix(points.size())};
  for (const size_t i : std::span(order).first(count)) {
    std::vector<double> direction = directions[i];
    const double largest = *std::ranges::max_element(direction, {}, [](double x) { return std::abs(x); });
    if (largest < 0) {
      for (double& number : direction) number = -number;
    }
    for (size_t k = 0; k < points.size(); ++k) {
      found.coordinates[k].push_back(std::inner_product(direction.begin(), direction.end(), from_mean[k].begin(), 0.0));
    }
    found.shares.push_back(variance > 0 ? a[i][i] / variance : 0);
    found.directions.push_back(std::move(direction));
  }
  return found;
}

}  // namespace orrery
