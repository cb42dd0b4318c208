#include "inspect/compare_tensors.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace orrery;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorComparison compare(std::vector<int64_t> shape, std::vector<double> a, std::vector<double> b) {
  return compare_tensors({shape, std::move(a)}, {shape, std::move(b)});
}

}  // namespace

TEST_CASE("compare_tensors: numbers that can be checked by hand") {
  const TensorComparison c = compare({2, 3}, {1, 2, 3, 0, 0, 4}, {1, 2, 2, 3, 0, 4});
  CHECK(c.same_shape);
  CHECK(c.max_difference == 3);
  CHECK(c.worst == 3);
  CHECK(c.nmse == doctest::Approx(10.0 / 34));
  CHECK(c.cosine == doctest::Approx((1 + 4 + 6 + 16) / std::sqrt(30.0 * 34)));
  CHECK(c.relative == doctest::Approx(0.75));  // 3 of 4; in the first row 1 of RMS 2.38
  CHECK(c.arg_max_agreement == 0.5);           // the first row's largest moved from 1 to 2
  CHECK(compare({2, 3}, {1, 2, 3, 0, 0, 4}, {1, 2, 3, 0, 0, 4}).worst == -1);
}

TEST_CASE("compare_tensors: a difference in a small row counts beside that row") {
  // The small row is measured with the RMS of all, not with its own size: 1e-3 / sqrt((1e4 + 1e-4) / 2).
  CHECK(compare({2, 1}, {100, 0.011}, {100, 0.01}).relative == doctest::Approx(1e-3 / std::sqrt(5000)).epsilon(1e-3));
  CHECK(compare({2, 1}, {1, 9}, {1, 10}).relative == doctest::Approx(0.1));
}

TEST_CASE("compare_tensors: infinities, NaN, zeros, other shapes, nothing") {
  const TensorComparison same = compare({1, 3}, {1, -kInfinity, 2}, {1, -kInfinity, 2});
  CHECK(same.max_difference == 0);
  CHECK(same.nmse == 0);
  CHECK(same.n_non_finite == 0);
  for (const double other : {-kInfinity, kNan}) {
    const TensorComparison c = compare({1, 2}, {1, other}, {1, 2});
    CHECK(c.max_difference == kInfinity);
    CHECK(c.worst == 1);
    CHECK(c.relative == kInfinity);
    CHECK(c.nmse == kInfinity);
    CHECK(c.n_non_finite == 1);
  }
  CHECK(compare({1, 1}, {kNan}, {kNan}).max_difference == kInfinity);
  CHECK(compare({1, 1}, {kInfinity}, {-kInfinity}).max_difference == kInfinity);
  CHECK(compare({1, 2}, {0, 0}, {0, 0}).nmse == 0);
  CHECK(compare({1, 2}, {0, 0}, {0, 0}).cosine == 1);
  CHECK(compare({1, 2}, {1, 0}, {0, 0}).nmse == kInfinity);
  CHECK(compare({1, 2}, {1, 0}, {0, 0}).cosine == 0);
  CHECK_FALSE(compare_tensors({{2, 1}, {1, 2}}, {{1, 2}, {1, 2}}).same_shape);
  CHECK(compare({0, 7}, {}, {}).arg_max_agreement == 1);
  CHECK(shape_text(TensorValues{{2, 30}, {}}) == "[2, 30]");
}
