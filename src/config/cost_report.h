// The costs of one model on one kind of chip, line by line, each with its formula in numbers and where that comes from.
#pragma once

#include <string>
#include <vector>

#include "config/costs.h"
#include "units/quantity.h"

namespace orrery {

struct CostQuestion {
  const CataloguedModel* model = nullptr;
  const Chip* chip = nullptr;  // nullptr: only what does not depend on one
  double chips = 1;
  double tokens = 0;  // of training; 0: what the catalogue says
  double batch = 1;   // sequences
  double length = 0;  // tokens of each; 0: the model's context
  std::string type = "f16";
  std::string kv_type = "f16";
  std::string format;  // that the chip computes in; empty: bf16, else fp16, else fp32
  double mfu = 0.4;
  double pue = 1.1;        // what the building draws for each watt of the chips
  double price_hour = 0;   // dollars for a chip; 0: not asked
  double price_kwh = 0.1;  // dollars
};

struct CostLine {
  std::string section;  // "inference", "training", ...
  std::string name;
  Quantity value;
  std::string formula;  // evaluate() makes `value` of it; empty where it was counted matrix by matrix
  std::string source;
};

// Throws Error for types and formats that do not exist, and for numbers that make no sense.
std::vector<CostLine> cost_report(const CostQuestion& question);

}  // namespace orrery
