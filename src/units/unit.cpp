#include "units/unit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365.25 * kDay;
constexpr double kJoulesPerWattHour = 3600;

struct Dimensions {
  Dimension number;
  Dimension flop = dimension_of(BaseUnit::flop), op = dimension_of(BaseUnit::op), byte = dimension_of(BaseUnit::byte);
  Dimension token = dimension_of(BaseUnit::token), joule = dimension_of(BaseUnit::joule);
  Dimension dollar = dimension_of(BaseUnit::dollar), metre = dimension_of(BaseUnit::metre);
  Dimension gram = dimension_of(BaseUnit::gram), second = dimension_of(BaseUnit::second);
  Dimension per_second = number / second;
};

enum class Takes { nothing, decimal, binary_too };  // prefixes

struct UnitName {
  const char* name;
  double value;
  Dimension dimension;
  Takes prefixes = Takes::nothing;
};

const std::vector<UnitName>& unit_names() {
  static const Dimensions d;
  static const std::vector<UnitName> names = {
      {"FLOP", 1, d.flop, Takes::decimal},
      {"FLOPs", 1, d.flop, Takes::decimal},
      {"FLOPS", 1, d.flop / d.second, Takes::decimal},
      {"OP", 1, d.op, Takes::decimal},
      {"OPs", 1, d.op, Takes::decimal},
      {"OPS", 1, d.op / d.second, Takes::decimal},
      {"PF-day", 1e15 * kDay, d.flop},
      {"PF-days", 1e15 * kDay, d.flop},
      {"B", 1, d.byte, Takes::binary_too},
      {"byte", 1, d.byte, Takes::binary_too},
      {"bytes", 1, d.byte, Takes::binary_too},
      {"字节", 1, d.byte},
      {"bit", 1 / 8.0, d.byte, Takes::binary_too},
      {"bits", 1 / 8.0, d.byte, Takes::binary_too},
      {"b", 1 / 8.0, d.byte, Takes::binary_too},
      {"比特", 1 / 8.0, d.byte},
      {"bps", 1 / 8.0, d.byte / d.second, Takes::decimal},
      {"token", 1, d.token, Takes::decimal},
      {"tokens", 1, d.token, Takes::decimal},
      {"s", 1, d.second, Takes::decimal},
      {"second", 1, d.second},
      {"seconds", 1, d.second},
      {"秒", 1, d.second},
      {"min", kMinute, d.second},
      {"minute", kMinute, d.second},
      {"minutes", kMinute, d.second},
      {"分钟", kMinute, d.second},
      {"h", kHour, d.second},
      {"hour", kHour, d.second},
      {"hours", kHour, d.second},
      {"小时", kHour, d.second},
      {"d", kDay, d.second},
      {"day", kDay, d.second},
      {"days", kDay, d.second},
      {"天", kDay, d.second},
      {"year", kYear, d.second},
      {"years", kYear, d.second},
      {"年", kYear, d.second},
      {"Hz", 1, d.per_second, Takes::decimal},
      {"J", 1, d.joule, Takes::decimal},
      {"W", 1, d.joule / d.second, Takes::decimal},
      {"Wh", kJoulesPerWattHour, d.joule, Takes::decimal},
      {"度", 1000 * kJoulesPerWattHour, d.joule},
      {"$", 1, d.dollar},
      {"USD", 1, d.dollar},
      {"美元", 1, d.dollar},
      {"m", 1, d.metre, Takes::decimal},
      {"g", 1, d.gram, Takes::decimal},
      {"%", 0.01, d.number},
  };
  return names;
}

struct Prefix {
  const char* name;
  double value;
  bool is_binary = false;
};

constexpr double kKibi = 1024;
constexpr Prefix kPrefixes[] = {
    {"Ki", kKibi, true},
    {"Mi", kKibi* kKibi, true},
    {"Gi", kKibi* kKibi* kKibi, true},
    {"Ti", kKibi* kKibi* kKibi* kKibi, true},
    {"Pi", kKibi* kKibi* kKibi* kKibi* kKibi, true},
    {"k", 1e3},
    {"K", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Z", 1e21},
    {"m", 1e-3},
    {"u", 1e-6},
    {"µ", 1e-6},  // U+00B5, the micro sign
    {"μ", 1e-6},  // U+03BC, the Greek letter
    {"n", 1e-9},
    {"p", 1e-12},
};

struct Step {
  double least;
  double unit;
  const char* name;
};

std::string in_steps(const Quantity& q, const Step* steps, size_t count, int digits) {
  const Step* chosen = steps;
  for (size_t i = 0; i < count; ++i) {
    if (std::abs(q.value) >= steps[i].least) chosen = steps + i;
  }
  return significant(q.value / chosen->unit, digits) + " " + chosen->name;
}

std::string time_text(const Quantity& q, int digits) {
  static constexpr Step kSteps[] = {{0, 1e-12, "ps"},        {1e-9, 1e-9, "ns"},    {1e-6, 1e-6, "us"},
                                    {1e-3, 1e-3, "ms"},      {1, 1, "s"},           {2 * kMinute, kMinute, "min"},
                                    {2 * kHour, kHour, "h"}, {2 * kDay, kDay, "d"}, {2 * kYear, kYear, "years"}};
  return q.value == 0 ? "0 s" : in_steps(q, kSteps, std::size(kSteps), digits);
}

std::string energy_text(const Quantity& q, int digits) {
  constexpr double kWh = 1000 * kJoulesPerWattHour;
  static constexpr Step kSteps[] = {
      {0, 1e-12, "pJ"}, {1e-9, 1e-9, "nJ"}, {1e-6, 1e-6, "uJ"},     {1e-3, 1e-3, "mJ"},
      {1, 1, "J"},      {1e3, 1e3, "kJ"},   {kWh / 10, kWh, "kWh"}, {1e6 * kWh, 1e6 * kWh, "GWh"}};
  return q.value == 0 ? "0 J" : in_steps(q, kSteps, std::size(kSteps), digits);
}

}  // namespace

std::optional<Quantity> find_unit(std::string_view name) {
  for (const UnitName& unit : unit_names()) {
    if (name == unit.name) return Quantity{unit.value, unit.dimension};
  }
  for (const Prefix& prefix : kPrefixes) {
    if (!name.starts_with(prefix.name)) continue;
    const std::string_view rest = name.substr(std::string_view(prefix.name).size());
    for (const UnitName& unit : unit_names()) {
      const bool fits = unit.prefixes == Takes::binary_too || (unit.prefixes == Takes::decimal && !prefix.is_binary);
      if (fits && rest == unit.name) return Quantity{prefix.value * unit.value, unit.dimension};
    }
  }
  return std::nullopt;
}

void refuse_unit(const std::string& name, const std::string& where) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string hint =
      "units are FLOP FLOP/s OP B bit s min h d year W J Wh Hz token $ % PF-day, with prefixes k M G T P E";
  if (lower.find("flop") != std::string::npos) {
    hint = "FLOP (or FLOPs) is an amount, FLOPS (or FLOP/s) a rate: TFLOP, TFLOP/s";
  } else if (lower.ends_with("b") || lower.ends_with("ib") || lower.ends_with("bit")) {
    hint = "GB is 1e9 bytes, GiB 2^30 bytes, Gbit an eighth of a GB";
  } else if (lower == "kwh" || lower == "kw" || lower == "w" || lower == "wh") {
    hint = "kWh is energy, kW power";
  } else if (lower == "k" || lower == "m" || lower == "g" || lower == "t" || lower == "p" || lower == "e") {
    hint = "a prefix stands before a unit, as in GB; plain numbers are written 7e9 or 70亿";
  } else if (name.starts_with("兆")) {
    hint = "兆 is 1e6 in some places and 1e12 in others: write 百万 or 万亿";
  }
  throw Error({.what = "there is no unit '" + name.substr(0, 40) + "'", .where = where, .hint = hint});
}

NumberWords leading_number_words(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kWords[] = {{"十", 10},  {"百", 100}, {"千", 1e3}, {"万", 1e4},
                                                                   {"萬", 1e4}, {"亿", 1e8}, {"億", 1e8}};
  NumberWords result;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [word, value] : kWords) {
      if (!text.substr(result.length).starts_with(word)) continue;
      result.value *= value;
      result.length += word.size();
      found = true;
    }
  }
  return result;
}

std::string scientific(double value, int digits) {
  if (!std::isfinite(value)) return fixed(value, 0);
  char buffer[40];
  const auto end =
      std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific, std::clamp(digits, 1, 17) - 1).ptr;
  const std::string all(buffer, end);
  std::string mantissa = all.substr(0, all.find('e'));
  std::string exponent = all.substr(all.find('e') + 1);
  if (mantissa.find('.') != std::string::npos) mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.ends_with('.')) mantissa.pop_back();
  const bool is_small = exponent[0] == '-';
  exponent.erase(0, std::min(exponent.find_first_not_of("+-0"), exponent.size() - 1));
  return mantissa + "e" + (is_small ? "-" : "") + exponent;
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return fixed(value, 0);
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude >= 1e15 || magnitude < 1e-4) return scientific(value, digits);
  const int before_point = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  if (before_point >= digits) {
    const double rounded = std::round(value);
    return std::abs(rounded) >= 1e4 ? with_separators(static_cast<int64_t>(rounded)) : fixed(rounded, 0);
  }
  std::string result = fixed(value, digits - before_point);
  result.erase(result.find_last_not_of('0') + 1);
  if (result.ends_with('.')) result.pop_back();
  return result;
}

std::string quantity_text(const Quantity& q, int digits) {
  static const Dimensions d;
  if (q.dimension.is_number()) return significant(q.value, digits);
  if (q.dimension == d.second) return time_text(q, digits);
  if (q.dimension == d.joule) return energy_text(q, digits);
  if (q.dimension == d.dollar) {
    const bool has_cents = std::abs(q.value) < 100 || std::abs(q.value) >= 1e15;
    const std::string amount = has_cents ? significant(q.value, digits) : with_separators(std::llround(q.value));
    return q.value < 0 ? "-$" + amount.substr(1) : "$" + amount;
  }
  const std::string name = dimension_text(q.dimension);
  // A prefix in front of a sum of money, a mass or "1/s" would read strangely.
  const bool takes_prefix = name.starts_with("FLOP") || name.starts_with("OP") || name.starts_with("B") ||
                            name == "W" || name.starts_with("J") || name.starts_with("m");
  const bool is_power = name.find('^') != std::string::npos || name.find('*') != std::string::npos;
  if (!takes_prefix || is_power) return significant(q.value, digits) + " " + name;
  static constexpr Step kSteps[] = {{0, 1, ""},        {1e3, 1e3, "k"},   {1e6, 1e6, "M"},   {1e9, 1e9, "G"},
                                    {1e12, 1e12, "T"}, {1e15, 1e15, "P"}, {1e18, 1e18, "E"}, {1e21, 1, ""}};
  const Step* chosen = kSteps;
  for (const Step& step : kSteps) {
    // 999.99 M is printed as 1 G.
    if (std::abs(q.value) >= step.least * (1 - std::pow(10.0, -digits) / 2)) chosen = &step;
  }
  return significant(q.value / chosen->unit, digits) + " " + chosen->name + name;
}

}  // namespace orrery
