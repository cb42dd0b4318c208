#include "plot/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "plot/ticks.h"

namespace orrery {
namespace {

constexpr double kLargest = 1e300;
// Values that are larger, or on a logarithmic scale smaller than one part of it, do not widen a range.
constexpr double kLargestOfData = 1e280;
// A range narrower than this share of its values would need labels of ten digits and more.
constexpr double kNarrowest = 1e-9;

double transformed(Scale scale, double value) { return scale == Scale::logarithmic ? std::log10(value) : value; }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

// A range of no width gets one.
Range widened(Range range, Scale scale) {
  if (range.low > range.high) return scale == Scale::logarithmic ? Range{1, 10} : Range{0, 1};
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > std::max(size * kNarrowest, 1e-290)) return range;
  if (scale == Scale::logarithmic) return {range.low / 2, range.high * 2};
  const double room = size > 1e-280 ? size / 10 : 1;
  return {range.low - room, range.high + room};
}

// A little room on both sides, so that no point lies on the edge.
Range with_room(Range range, Scale scale) {
  constexpr double kRoom = 0.03;
  if (scale == Scale::logarithmic) {
    const double factor = std::pow(10, (std::log10(range.high) - std::log10(range.low)) * kRoom);
    return {range.low / factor, range.high * factor};
  }
  const double room = (range.high - range.low) * kRoom;
  const bool is_above_zero = range.low >= 0;
  const bool is_below_zero = range.high <= 0;
  return {is_above_zero ? std::max(0.0, range.low - room) : range.low - room,
          is_below_zero ? std::min(0.0, range.high + room) : range.high + room};
}

}  // namespace

bool can_show(Scale scale, double value) { return std::isfinite(value) && (scale == Scale::linear || value > 0); }

Axis::Axis(Scale scale, double low, double high) : scale_(scale), low_(low), high_(high) {
  const bool is_in_reach = std::abs(low) <= kLargest && std::abs(high) <= kLargest;
  const bool is_wide = high - low > std::max(std::abs(low), std::abs(high)) * 1e-12 && high - low > 1e-300;
  if (!is_in_reach || !is_wide || !can_show(scale, low)) {
    throw Error({.what = "an axis cannot show this range",
                 .expected = scale == Scale::logarithmic ? "0 < low < high" : "low < high",
                 .found = short_number(low) + " to " + short_number(high)});
  }
}

Axis Axis::around(const std::vector<double>& values, const AxisOptions& options) {
  const Scale scale = options.scale;
  Range data;
  for (const double value : values) {
    if (!can_show(scale, value)) continue;
    const double smallest = scale == Scale::logarithmic ? 1 / kLargestOfData : -kLargestOfData;
    const double counted = std::clamp(value, smallest, kLargestOfData);
    data.low = std::min(data.low, counted);
    data.high = std::max(data.high, counted);
  }
  Range range = with_room(widened(data, scale), scale);
  if (options.low) range.low = *options.low;
  if (options.high) range.high = *options.high;
  // One end was said, and all data lies beyond it.
  if (range.low >= range.high && options.low.has_value() != options.high.has_value()) {
    const double room = std::max(1.0, std::abs(options.low ? range.low : range.high));
    const bool is_log = scale == Scale::logarithmic;
    if (options.low) range.high = is_log ? range.low * 10 : range.low + room;
    if (options.high) range.low = is_log ? range.high / 10 : range.high - room;
  }
  return Axis(scale, range.low, range.high);
}

double Axis::position(double value) const {
  if (!can_show(scale_, value)) return std::numeric_limits<double>::quiet_NaN();
  const double low = transformed(scale_, low_);
  const double high = transformed(scale_, high_);
  return std::clamp((transformed(scale_, value) - low) / (high - low), -1e6, 1e6);
}

std::vector<Tick> Axis::ticks(int at_most) const {
  if (scale_ == Scale::linear) return linear_ticks(low_, high_, at_most);
  return logarithmic_ticks(low_, high_, at_most);
}

std::vector<Tick> Axis::ticks_that_fit(double length, double gap,
                                       const std::function<double(std::string_view)>& size_of) const {
  std::vector<Tick> chosen;
  for (int at_most = 10; at_most > 0; --at_most) {
    chosen = ticks(at_most);
    double end = -std::numeric_limits<double>::infinity();  // of the label before
    bool fits = true;
    for (const Tick& tick : chosen) {
      if (tick.label.empty()) continue;
      const double center = position(tick.value) * length;
      const double half = size_of(tick.label) / 2;
      fits = fits && center - half >= end + gap;
      end = center + half;
    }
    if (fits) break;
  }
  return chosen;
}

}  // namespace orrery
