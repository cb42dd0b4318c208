#include "inspect/compare_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/tensor.h"

namespace orrery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sums {
  double aa = 0, bb = 0, ab = 0, dd = 0;  // of squares, of products, of squared differences
};

// Index of the first among the largest; a NaN is never the largest.
int64_t arg_max(const double* row, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (row[i] > row[best] || std::isnan(row[best])) best = i;
  }
  return best;
}

double rms_of_finite(const TensorValues& values) {
  double sum = 0;
  int64_t n = 0;
  for (const double value : values.numbers) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++n;
  }
  return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

double ratio(double part, double whole) { return part == 0 ? 0 : whole == 0 ? kInfinity : part / whole; }

// Adds one row to the sums and to the result.
void compare_row(const double* a, const double* b, int64_t first, int64_t width, double least_scale, Sums& sums,
                 TensorComparison& result) {
  double largest_difference = 0, largest = 0;
  for (int64_t i = 0; i < width; ++i) {
    if (std::isinf(b[i]) && a[i] == b[i]) continue;
    const bool is_finite = std::isfinite(a[i]) && std::isfinite(b[i]);
    const double difference = is_finite ? std::abs(a[i] - b[i]) : kInfinity;
    if (!is_finite) ++result.n_non_finite;
    largest_difference = std::max(largest_difference, difference);
    if (std::isfinite(b[i])) largest = std::max(largest, std::abs(b[i]));
    if (difference > result.max_difference) {
      result.max_difference = difference;
      result.worst = first + i;
    }
    if (!is_finite) continue;
    sums.aa += a[i] * a[i];
    sums.bb += b[i] * b[i];
    sums.ab += a[i] * b[i];
    sums.dd += difference * difference;
  }
  result.relative = std::max(result.relative, ratio(largest_difference, std::max(largest, least_scale)));
}

}  // namespace

std::string shape_text(const TensorValues& values) { return shape_text(values.shape); }

TensorComparison compare_tensors(const TensorValues& a, const TensorValues& b) {
  TensorComparison result;
  if (a.shape != b.shape) {
    result.same_shape = false;
    return result;
  }
  Sums sums;
  const double rms = rms_of_finite(b);
  const int64_t width = b.width();
  int64_t n_agreeing = 0;
  for (int64_t r = 0; r < b.n_rows(); ++r) {
    compare_row(a.row(r), b.row(r), r * width, width, rms, sums, result);
    if (arg_max(a.row(r), width) == arg_max(b.row(r), width)) ++n_agreeing;
  }
  if (b.n_rows() > 0) result.arg_max_agreement = static_cast<double>(n_agreeing) / static_cast<double>(b.n_rows());
  result.nmse = result.n_non_finite > 0 ? kInfinity : ratio(sums.dd, sums.bb);
  const double lengths = std::sqrt(sums.aa) * std::sqrt(sums.bb);
  if (lengths > 0) {
    result.cosine = std::clamp(sums.ab / lengths, -1.0, 1.0);
  } else if (sums.aa != sums.bb) {
    result.cosine = 0;
  }
  return result;
}

}  // namespace orrery
