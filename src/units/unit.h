// Names of units, and quantities as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "units/quantity.h"

namespace orrery {

// One unit of that name: FLOP FLOPS OP OPS B bit s min h d year W J Wh Hz token $ m g % PF-day with their prefixes
// (k M G T P E Z, Ki Mi Gi Ti Pi, m u n p), and their Chinese names. FLOPs is FLOP, an amount; FLOPS is FLOP/s, a rate.
std::optional<Quantity> find_unit(std::string_view name);
// The error for a name that is none; guesses what was meant.
[[noreturn]] void refuse_unit(const std::string& name, const std::string& where);

// Value of Chinese number words at the start of `text`: 万亿 is 1e12, 百亿亿 1e18. `length` is what they take, in
// bytes. 兆 is not among them: it means 1e6 in some places and 1e12 in others.
struct NumberWords {
  double value = 1;
  size_t length = 0;
};
NumberWords leading_number_words(std::string_view text);

// Significant digits as people write them: "3640", "0.0124", "147,456", "3.145e23".
std::string significant(double value, int digits = 4);
std::string scientific(double value, int digits = 4);  // "3.145e23"

// In a unit that suits its size: "1.678 GB", "312 TFLOP/s", "50.6 d", "$14,746".
std::string quantity_text(const Quantity& quantity, int digits = 4);

}  // namespace orrery
