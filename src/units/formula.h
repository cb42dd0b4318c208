// Formulas with units: "6 FLOP/token * 175e9 * 300e9 token / (1024 * 312 TFLOP/s * 45%) in d".
//
//   + - * / ^ ( )   as in arithmetic; also × · ÷
//   min max sqrt log log2 log10 exp abs ceil floor
//   80 GiB          a unit after a number (or a bracket) belongs to it before anything else is done: 2^30 B, 26 GB / 2
//   TB/s GB/s            a slash without spaces between units belongs to the unit; with spaces it divides 2.1万亿 token
//   number words multiply the number before them
//   ... in GB       at the end: the unit of the answer
#pragma once

#include <string>
#include <string_view>

#include "units/quantity.h"

namespace orrery {

struct Evaluation {
  Quantity value;
  std::string unit;     // as written after "in"; empty: none was asked for
  Quantity one{1, {}};  // one of that unit
  double in_unit() const { return value.value / one.value; }
};

// Throws Error, its `where` is "formula, character N", for what cannot be read, mixes dimensions, divides by zero, or
// leaves the range of numbers.
Evaluation evaluate(std::string_view formula);

// "3640 PFLOP/s", "80 GiB", "2.1万亿": any formula will do.
Quantity parse_quantity(std::string_view text);

// "3640 PF-day" where a unit was asked for, else in a unit that suits.
std::string evaluation_text(const Evaluation& evaluation, int digits = 4);

}  // namespace orrery
