#include "base/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace orrery {

std::string with_separators(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be printed as 1024.0: go on to the next unit.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fixed(value, 1) + " " + kUnits[unit];
}

std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[400];  // the largest double has 309 digits before the point
  const auto end =
      std::to_chars(text, std::end(text), value, std::chars_format::fixed, std::clamp(decimals, 0, 80)).ptr;
  return std::string(text, end);
}

std::string scaled(double value, int digits) {
  static constexpr const char* kSuffixes[] = {"", "K", "M", "B", "T"};
  if (value == 0 || !std::isfinite(value)) return fixed(value, 0);
  // Round first: 999,999 is 1.00M, not 1000K.
  const double step = std::pow(10, std::floor(std::log10(std::abs(value))) - std::max(digits, 3) + 1);
  value = std::round(value / step) * step;
  size_t suffix = 0;
  while (std::abs(value) >= 1000 && suffix + 1 < std::size(kSuffixes)) {
    value /= 1000;
    ++suffix;
  }
  const int before_point = std::abs(value) >= 100 ? 3 : std::abs(value) >= 10 ? 2 : 1;
  return fixed(value, suffix == 0 ? 0 : std::max(0, digits - before_point)) + kSuffixes[suffix];
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

}  // namespace orrery
