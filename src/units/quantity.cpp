#include "units/quantity.h"

#include <cstdlib>

#include "base/error.h"

namespace orrery {
namespace {

constexpr int kLargestExponent = 9;  // no formula of the field comes near
constexpr const char* kNames[kBaseUnits] = {"FLOP", "OP", "B", "token", "J", "$", "m", "g", "s"};

Dimension combine(const Dimension& a, const Dimension& b, int factor) {
  Dimension result;
  for (size_t i = 0; i < result.exponent.size(); ++i) {
    result.exponent[i] = a.exponent[i] + factor * b.exponent[i];
    if (std::abs(result.exponent[i]) > kLargestExponent) {
      throw Error({.what = std::string("a power of ") + kNames[i] + " is too high",
                   .expected = "at most " + std::to_string(kLargestExponent),
                   .found = std::to_string(result.exponent[i])});
    }
  }
  return result;
}

// What learners mix up, and how the two are really related.
struct Relation {
  Dimension a, b;
  const char* explanation;
};

const char* explanation(const Dimension& a, const Dimension& b) {
  const Dimension flop = dimension_of(BaseUnit::flop), op = dimension_of(BaseUnit::op);
  const Dimension byte = dimension_of(BaseUnit::byte), joule = dimension_of(BaseUnit::joule);
  const Dimension token = dimension_of(BaseUnit::token), second = dimension_of(BaseUnit::second);
  const Relation relations[] = {
      {flop, flop / second, "FLOP is an amount, FLOP/s (FLOPS) a rate: rate * time = amount"},
      {op, op / second, "OP is an amount, OP/s (OPS) a rate: rate * time = amount"},
      {byte, byte / second, "GB is how much, GB/s how fast it moves: rate * time = amount"},
      {joule, joule / second, "kWh is energy, kW power: power * time = energy"},
      {token, token / second, "tokens are an amount, tokens/s a rate: rate * time = amount"},
      {byte, flop,
       "bytes store numbers, FLOP compute with them: parameters * bytes each is memory, computing is counted "
       "by 2 (forward) or 6 (training) * parameters * tokens"},
      {byte / second, flop / second, "bytes/s is what the memory moves, FLOP/s what the arithmetic units do"},
      {flop, op, "floating-point and integer operations are counted apart: FLOP and OP"},
      {flop / second, op / second,
       "a chip's FLOP/s (floating point) and OP/s (integers) are two figures of its data sheet"},
      {flop, flop / token, "FLOP/token is the cost of one token: multiply by tokens to get FLOP"},
      {byte, byte / token, "B/token is the size of one token's share: multiply by tokens to get bytes"},
  };
  for (const Relation& r : relations) {
    if ((r.a == a && r.b == b) || (r.a == b && r.b == a)) return r.explanation;
  }
  if (a.is_number() || b.is_number()) return "a plain number has no unit; give it one, such as 3 GB";
  return "only quantities of one kind can be added or compared; multiply or divide first";
}

}  // namespace

Dimension dimension_of(BaseUnit unit, int exponent) {
  Dimension result;
  result.exponent[static_cast<size_t>(unit)] = exponent;
  return result;
}

Dimension operator*(const Dimension& a, const Dimension& b) { return combine(a, b, 1); }
Dimension operator/(const Dimension& a, const Dimension& b) { return combine(a, b, -1); }

Dimension power(const Dimension& a, int exponent) {
  if (a.is_number()) return a;
  // Also keeps the product far from overflow.
  if (std::abs(exponent) > kLargestExponent) {
    throw Error({.what = "the power of a unit is too high",
                 .expected = "at most " + std::to_string(kLargestExponent),
                 .found = std::to_string(exponent)});
  }
  return combine({}, a, exponent);
}

std::string dimension_text(const Dimension& dimension) {
  if (dimension.is_number()) return "a plain number";
  if (dimension == dimension_of(BaseUnit::joule) / dimension_of(BaseUnit::second)) return "W";
  std::string above, below;
  for (size_t i = 0; i < dimension.exponent.size(); ++i) {
    const int exponent = std::abs(dimension.exponent[i]);
    if (exponent == 0) continue;
    const std::string name = kNames[i] + (exponent == 1 ? "" : "^" + std::to_string(exponent));
    if (dimension.exponent[i] > 0) {
      above += (above.empty() ? "" : "*") + name;
    } else {
      below += "/" + name;
    }
  }
  return (above.empty() ? "1" : above) + below;
}

Quantity operator*(const Quantity& a, const Quantity& b) { return {a.value * b.value, a.dimension * b.dimension}; }
Quantity operator/(const Quantity& a, const Quantity& b) { return {a.value / b.value, a.dimension / b.dimension}; }

Quantity operator+(const Quantity& a, const Quantity& b) {
  if (a.dimension != b.dimension) refuse_mixture("these cannot be added", a.dimension, b.dimension);
  return {a.value + b.value, a.dimension};
}

Quantity operator-(const Quantity& a, const Quantity& b) {
  if (a.dimension != b.dimension) refuse_mixture("these cannot be subtracted", a.dimension, b.dimension);
  return {a.value - b.value, a.dimension};
}

void refuse_mixture(const std::string& what, const Dimension& a, const Dimension& b) {
  throw Error({.what = what + ": " + dimension_text(a) + " and " + dimension_text(b), .hint = explanation(a, b)});
}

}  // namespace orrery
