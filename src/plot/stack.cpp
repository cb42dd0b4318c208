#include "plot/stack.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void check(const AreaFigure& figure) {
  for (const Area& area : figure.areas) {
    if (area.y.size() != figure.x.size()) {
      throw Error({.what = "an area needs as many y as the figure has x",
                   .where = area.name,
                   .expected = std::to_string(figure.x.size()) + " values",
                   .found = std::to_string(area.y.size())});
    }
    for (const double y : area.y) {
      if (y < 0) throw Error({.what = "an area cannot be negative", .where = area.name, .found = short_number(y)});
    }
  }
  if (figure.y_axis.scale == Scale::logarithmic) {
    throw Error({.what = "areas cannot be stacked on a logarithmic axis",
                 .where = figure.title,
                 .hint = "heights do not add up there: draw lines"});
  }
  for (size_t i = 0; i < figure.x.size(); ++i) {
    const bool is_ascending = i == 0 || figure.x[i] >= figure.x[i - 1];
    if (std::isfinite(figure.x[i]) && is_ascending) continue;
    throw Error({.what = "the x of areas must be finite and ascend",
                 .where = "x number " + std::to_string(i),
                 .found = short_number(figure.x[i])});
  }
}

Stack::Stack(const AreaFigure& figure) : x_(figure.x), has_steps_(figure.has_steps) {
  std::vector<double> sums(x_.size(), 0.0);
  for (const Area& area : figure.areas) {
    for (size_t i = 0; i < x_.size(); ++i) sums[i] += area.y[i];
    tops_.push_back(sums);
  }
  for (size_t i = 0; i < x_.size(); ++i) {
    if (std::isfinite(sums[i])) continue;
    for (std::vector<double>& top : tops_) top[i] = kNone;
  }
}

double Stack::at(size_t area, double x) const {
  const std::vector<double>& y = tops_[area];
  const size_t after = static_cast<size_t>(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin());
  if (after == 0) return kNone;
  if (after == x_.size()) return x == x_.back() ? y.back() : kNone;
  const double width = x_[after] - x_[after - 1];
  if (has_steps_ || !(width > 0)) return y[after - 1];
  return y[after - 1] + (y[after] - y[after - 1]) * ((x - x_[after - 1]) / width);
}

double Stack::top(size_t area, double from, double to) const {
  const auto first = std::lower_bound(x_.begin(), x_.end(), from) - x_.begin();
  const auto end = std::upper_bound(x_.begin(), x_.end(), to) - x_.begin();
  const double at_from = at(area, from);
  const double at_to = at(area, to);
  if (first == end) return (at_from + at_to) / 2;
  double highest = std::fmax(at_from, at_to);
  for (auto i = first; i < end; ++i) highest = std::fmax(highest, tops_[area][static_cast<size_t>(i)]);
  return highest;
}

}  // namespace orrery
