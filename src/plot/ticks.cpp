#include "plot/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/format.h"

namespace orrery {
namespace {

struct Unit {
  double size;
  const char* letter;
};
constexpr Unit kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

// n * 10^exponent, correctly rounded as far as 10^|exponent| is: 3 * 10^-1 is 0.3.
double times_power(double n, int exponent) {
  return exponent < 0 ? n / std::pow(10, -exponent) : n * std::pow(10, exponent);
}

// 1, 2 or 5 times a power of ten.
struct Step {
  int digit = 1;
  int exponent = 0;
  double size() const { return times_power(digit, exponent); }
  Step next() const { return digit == 5 ? Step{1, exponent + 1} : Step{digit == 1 ? 2 : 5, exponent}; }
};

std::string without_trailing_zeros(std::string digits) {
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-12)); }

// 1e-5, 2.5e20
std::string with_exponent(double value, int decimals) {
  if (value == 0) return "0";
  const int exponent = exponent_of(value);
  // Two steps: 10^-320 and the like are no full numbers.
  const double mantissa = times_power(times_power(value, -exponent / 2), -(exponent - exponent / 2));
  const std::string digits = without_trailing_zeros(fixed(mantissa, std::clamp(decimals, 0, 12)));
  return (digits == "1" && exponent == 0) ? "1" : digits + "e" + std::to_string(exponent);
}

// The labels of one axis look alike: the same unit and number of decimals.
std::string tick_label(double value, double largest, const Step& step) {
  if (largest >= 1e15 || largest < 1e-3)
    return with_exponent(value, value == 0 ? 0 : exponent_of(value) - step.exponent);
  const auto decimals = [&](int unit_exponent) { return std::max(0, unit_exponent - step.exponent); };
  if (largest >= 1e4) {
    int most = 2;  // decimals; 1001k may replace 1.001M, but nothing replaces 1000050
    for (const Unit& unit : kUnits) {
      if (largest < unit.size) continue;
      const int needed = decimals(exponent_of(unit.size));
      if (needed <= most) return value == 0 ? "0" : fixed(value / unit.size, needed) + unit.letter;
      most = 0;
    }
  }
  return value == 0 && step.exponent >= 0 ? "0" : fixed(value, decimals(0));
}

double first_multiple(double low, double step) { return std::ceil(low / step - 1e-9); }
double last_multiple(double high, double step) { return std::floor(high / step + 1e-9); }

// 2 to 9 times a power of ten, as fine lines.
void add_fine_lines(int exponent, double low, double high, std::vector<Tick>& ticks) {
  for (int digit = 2; digit < 10; ++digit) {
    const double value = times_power(digit, exponent);
    if (value >= low && value <= high) ticks.push_back({value});
  }
}

// 1, 2 and 5 times powers of ten.
std::vector<Tick> ticks_in_decades(double low, double high) {
  std::vector<Tick> ticks;
  for (Step step = {1, exponent_of(low) - 1}; step.size() <= high; step = step.next()) {
    if (step.size() >= low) ticks.push_back({step.size(), short_number(step.size())});
  }
  return ticks;
}

}  // namespace

std::string short_number(double value) {
  if (!std::isfinite(value)) return fixed(value, 0);
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 9.9995e14) return with_exponent(value, 3);
  if (size < 9999.5) return without_trailing_zeros(fixed(value, std::clamp(3 - exponent_of(value), 0, 6)));
  for (const Unit& unit : kUnits) {
    if (size < unit.size * 0.99995) continue;
    const double in_units = value / unit.size;
    return without_trailing_zeros(fixed(in_units, std::clamp(3 - exponent_of(in_units), 0, 3))) + unit.letter;
  }
  return without_trailing_zeros(fixed(value / 1e3, 2)) + "k";
}

std::vector<Tick> linear_ticks(double low, double high, int at_most) {
  at_most = std::clamp(at_most, 1, 1000);
  Step step = {1, exponent_of((high - low) / at_most)};
  while (last_multiple(high, step.size()) - first_multiple(low, step.size()) + 1 > at_most) step = step.next();
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  const double last = last_multiple(high, step.size());
  for (double n = first_multiple(low, step.size()); n <= last; n += 1) {
    const double value = n == 0 ? 0.0 : times_power(n * step.digit, step.exponent);
    ticks.push_back({value, tick_label(value, largest, step)});
  }
  return ticks;
}

std::vector<Tick> logarithmic_ticks(double low, double high, int at_most) {
  constexpr int kDecadesWithFineLines = 8;
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  if (last - first < 1) {
    constexpr double kWide = 8;  // 2 and 5 times a power of ten are enough then
    const std::vector<Tick> ticks = ticks_in_decades(low, high);
    const bool is_enough = high / low >= kWide && static_cast<int>(ticks.size()) <= at_most;
    return is_enough ? ticks : linear_ticks(low, high, at_most);
  }
  const int every = (last - first) / std::max(1, at_most) + 1;  // label every so many decades
  const bool is_extreme = first < -3 || last >= 15;
  std::vector<Tick> ticks;
  for (int exponent = first - 1; exponent <= last; ++exponent) {
    if (exponent >= first) {
      const double value = times_power(1, exponent);
      const bool is_labelled = (exponent - first) % every == 0;
      ticks.push_back({value, !is_labelled ? "" : is_extreme ? with_exponent(value, 0) : short_number(value)});
    }
    if (last - first < kDecadesWithFineLines) add_fine_lines(exponent, low, high, ticks);
  }
  return ticks;
}

}  // namespace orrery
