#include "learn/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.h"

namespace orrery {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

double same_kind_share(const std::vector<std::vector<double>>& points, std::span<const int> kinds) {
  if (points.size() != kinds.size() || points.size() < 2) {
    throw Error({.what = "a kind is needed for each of at least two points",
                 .expected = std::to_string(points.size()) + " kinds",
                 .found = std::to_string(kinds.size())});
  }
  constexpr double kEqual = 1e-12;  // rounding must not part what is equally near
  double share = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    double nearest = -std::numeric_limits<double>::infinity(), same = 0, all = 0;
    for (size_t j = 0; j < points.size(); ++j) {
      if (j == i) continue;
      const double lengths = std::sqrt(dot(points[i], points[i]) * dot(points[j], points[j]));
      const double cosine = lengths > 0 ? dot(points[i], points[j]) / lengths : 0;
      if (cosine > nearest + kEqual) same = all = 0;
      if (cosine < nearest - kEqual) continue;
      nearest = std::max(nearest, cosine);
      same += kinds[i] == kinds[j];
      ++all;
    }
    share += same / all / static_cast<double>(points.size());
  }
  return share;
}

}  // namespace orrery
