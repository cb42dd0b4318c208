// What a figure's axis shows, and the numbers that stand at it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Scale { linear, logarithmic };

struct AxisOptions {
  std::string label = {};
  Scale scale = Scale::linear;
  std::optional<double> low = {};  // where the axis begins and ends; without them where the data does
  std::optional<double> high = {};
};

struct Tick {
  double value = 0;
  std::string label = {};  // empty: a fine line between those with a number
};

class Axis {
 public:
  // Throws Error unless low < high, both within 1e300, and low > 0 on a logarithmic scale.
  Axis(Scale scale, double low, double high);
  // Around all values that the scale can show, with a little room (not beyond zero on a linear scale); values beyond
  // 1e280 are left out of it. Throws Error where the options say a range that is none.
  static Axis around(const std::vector<double>& values, const AxisOptions& options);

  Scale scale() const { return scale_; }
  double low() const { return low_; }
  double high() const { return high_; }
  // 0 where the axis begins, 1 where it ends, at most a million beyond. NaN for a value that it cannot show: what is
  // not finite, and zero and less on a logarithmic scale.
  double position(double value) const;

  // At most `at_most` ticks with a label, at 1, 2 or 5 times a power of ten. On a logarithmic scale at powers of ten,
  // if two or more are in range, with fine lines between them.
  std::vector<Tick> ticks(int at_most) const;
  // As many as find room on an axis of this length; `size_of` says how much of it a label takes, `gap` what must lie
  // between two. Labels are centred at their ticks.
  std::vector<Tick> ticks_that_fit(double length, double gap,
                                   const std::function<double(std::string_view)>& size_of) const;

 private:
  Scale scale_;
  double low_;
  double high_;
};

bool can_show(Scale scale, double value);

// 0, 0.25, 9999, 12k, 1.5M, 3G, 2T, 1e-5: at most four digits.
std::string short_number(double value);

}  // namespace orrery
