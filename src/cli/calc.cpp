// orrery calc: formulas with units, and what a model costs.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "cli/session.h"
#include "config/cost_report.h"
#include "units/formula.h"
#include "units/unit.h"

namespace orrery::cli {
namespace {

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string left_padded(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// "2.1万亿", "15e12 token", "$2/h": a number, or a quantity of that unit.
double number(const std::string& text, const char* option, const char* unit) {
  if (text.empty()) return 0;
  try {
    const Quantity value = parse_quantity(text), one = parse_quantity(unit);
    if (value.dimension.is_number()) return value.value;
    if (value.dimension != one.dimension) refuse_mixture("this does not fit", value.dimension, one.dimension);
    return value.value / one.value;
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    parts.where = option + (parts.where.empty() ? "" : ", " + parts.where);
    throw Error(parts);
  }
}

void list() {
  print("models, with their parameters\n");
  for (const CataloguedModel& model : model_catalogue()) {
    const ModelParameters parameters = model_parameters(model);
    std::string line = "  " + padded(model.config.name, 17) + left_padded(scaled(parameters.total), 6);
    if (parameters.active != parameters.total) line += ", " + scaled(parameters.active) + " active";
    print(line + "\n");
  }
  print("\nchips, dense        TFLOP/s in bf16 or fp16   memory    bandwidth   power\n");
  for (const Chip& chip : chip_catalogue()) {
    const double peak = std::max(chip.bf16, chip.fp16) / 1e12;
    print("  " + padded(chip.name, 22) + left_padded(peak > 0 ? significant(peak) : "-", 8) +
          left_padded(chip.memory > 0 ? significant(chip.memory / 1e9) + " GB" : "-", 21) +
          left_padded(chip.bandwidth > 0 ? significant(chip.bandwidth / 1e9) + " GB/s" : "-", 13) +
          left_padded(significant(chip.power) + " W", 8) + (chip.is_confirmed ? "" : "   not confirmed") + "\n");
  }
}

void print_report(const std::vector<CostLine>& lines, bool explains) {
  std::string section;
  for (const CostLine& line : lines) {
    if (line.section != section) print((section.empty() ? "" : "\n") + line.section + "\n");
    section = line.section;
    std::string value = quantity_text(line.value);
    // A count of parameters is read in billions.
    if (line.value.dimension.is_number() && line.value.value >= 1e6 && line.value.value < 1e15) {
      value = with_separators(static_cast<int64_t>(line.value.value)) + " (" + scaled(line.value.value) + ")";
    }
    std::string text = "  " + padded(line.name, 26) + value;
    if (explains) {
      text = padded(text, 46) + (line.formula.empty() ? "" : "= " + line.formula) + "   [" + line.source + "]";
    }
    print(text + "\n");
  }
}

}  // namespace

int calc(const CalcOptions& options) {
  if (options.list) {
    list();
    return kDone;
  }
  if (options.model.empty()) {
    print(evaluation_text(evaluate(join(options.formula, " ")), options.digits) + "\n");
    return kDone;
  }
  CostQuestion question;
  question.model = &catalogued_model(options.model);
  if (!options.chip.empty()) question.chip = &catalogued_chip(options.chip);
  question.chips = number(options.chips, "--chips", "1");
  question.tokens = number(options.tokens, "--tokens", "token");
  question.batch = number(options.batch, "--batch", "1");
  question.length = number(options.length, "--ctx-size", "token");
  question.type = options.type;
  question.kv_type = options.kv_type;
  question.format = options.format;
  question.mfu = number(options.mfu, "--mfu", "1");
  question.pue = number(options.pue, "--pue", "1");
  question.price_hour = number(options.price_hour, "--price-hour", "$/h");
  question.price_kwh = number(options.price_kwh, "--price-kwh", "$/kWh");
  print_report(cost_report(question), options.explain);
  if (question.chip != nullptr && !question.chip->is_confirmed) {
    std::fprintf(stderr, "The figures of %s are not confirmed: %s\n", question.chip->name.c_str(),
                 question.chip->reference.c_str());
  }
  return kDone;
}

}  // namespace orrery::cli
