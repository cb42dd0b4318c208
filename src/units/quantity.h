// A number with its dimension, so that an amount of computing cannot be added to a rate of computing.
#pragma once

#include <array>
#include <string>

namespace orrery {

// What the quantities of this field are counted in. Watt is joule per second, bit an eighth of a byte; parameters,
// layers and chips are plain numbers.
enum class BaseUnit { flop, op, byte, token, joule, dollar, metre, gram, second };
constexpr int kBaseUnits = 9;

// Exponents of the base units: FLOP/s has flop 1 and second -1.
struct Dimension {
  std::array<int, kBaseUnits> exponent{};

  int of(BaseUnit unit) const { return exponent[static_cast<size_t>(unit)]; }
  bool is_number() const { return *this == Dimension{}; }
  bool operator==(const Dimension&) const = default;
};
Dimension dimension_of(BaseUnit unit, int exponent = 1);
Dimension operator*(const Dimension& a, const Dimension& b);  // these throw Error when an exponent leaves -9..9
Dimension operator/(const Dimension& a, const Dimension& b);
Dimension power(const Dimension& a, int exponent);
std::string dimension_text(const Dimension& dimension);  // "FLOP/s", "B/token", "a plain number"

struct Quantity {
  double value = 0;  // in base units: FLOP, bytes, seconds, joules, ...
  Dimension dimension;
};
Quantity operator*(const Quantity& a, const Quantity& b);
Quantity operator/(const Quantity& a, const Quantity& b);

// These two throw Error when the dimensions differ. Its hint says in a sentence what the two have to do with each
// other.
Quantity operator+(const Quantity& a, const Quantity& b);
Quantity operator-(const Quantity& a, const Quantity& b);
// The error that they throw: `what` is "these cannot be added", `where` is for the caller to say.
[[noreturn]] void refuse_mixture(const std::string& what, const Dimension& a, const Dimension& b);

}  // namespace orrery
