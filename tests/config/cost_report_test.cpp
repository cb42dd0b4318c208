#include "config/cost_report.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "units/formula.h"

using namespace orrery;

namespace {

double value_of(const std::vector<CostLine>& lines, const std::string& name) {
  for (const CostLine& line : lines) {
    if (line.name == name) return line.value.value;
  }
  FAIL("no line " << name);
  return 0;
}

}  // namespace

TEST_CASE("cost report: every formula that is shown gives the number beside it") {
  int formulas = 0;
  for (const CataloguedModel& model : model_catalogue()) {
    for (const Chip& chip : chip_catalogue()) {
      if (std::max({chip.bf16, chip.fp16, chip.fp32}) == 0) continue;
      const CostQuestion question{.model = &model,
                                  .chip = &chip,
                                  .chips = 24,
                                  .tokens = 1.5e12,
                                  .batch = 3,
                                  .length = 1000,
                                  .type = "q8_0",
                                  .kv_type = "fp8",
                                  .mfu = 0.43,
                                  .price_hour = 2.5};
      for (const CostLine& line : cost_report(question)) {
        if (line.formula.empty()) continue;
        CAPTURE(model.config.name);
        CAPTURE(line.name);
        CAPTURE(line.formula);
        const Quantity evaluated = evaluate(line.formula).value;
        CHECK(evaluated.dimension == line.value.dimension);
        CHECK(std::abs(evaluated.value - line.value.value) <= 1e-12 * std::abs(line.value.value));
        CHECK(!line.source.empty());
        ++formulas;
      }
    }
  }
  CHECK(formulas > 5000);
}

TEST_CASE("cost report: what is published or follows by hand") {
  const std::vector<CostLine> gpt3 = cost_report({.model = &catalogued_model("GPT-3"),
                                                  .chip = &catalogued_chip("A100-80GB"),
                                                  .chips = 512,
                                                  .mfu = 0.45,
                                                  .pue = 1,
                                                  .price_hour = 4.1});
  CHECK(value_of(gpt3, "computing") == doctest::Approx(3.143e23).epsilon(0.001));
  CHECK(value_of(gpt3, "time") / 86400 == doctest::Approx(50.6).epsilon(0.002));
  CHECK(value_of(gpt3, "energy") / 3.6e9 == doctest::Approx(248.6).epsilon(0.002));  // MWh
  CHECK(value_of(gpt3, "rent") == doctest::Approx(50.6 * 24 * 512 * 4.1).epsilon(0.002));
  const std::vector<CostLine> opt = cost_report({.model = &catalogued_model("OPT-13B")});
  CHECK(value_of(opt, "KV cache of a sequence") == doctest::Approx(1.678e9).epsilon(0.001));
  for (const CostLine& line : opt) CHECK(line.name != "time");
  // An encoder has no cache to decode with.
  for (const CostLine& line :
       cost_report({.model = &catalogued_model("BERT-base"), .chip = &catalogued_chip("H100-SXM")})) {
    CHECK(line.name.find("KV") == std::string::npos);
    CHECK(line.name != "decoding, at most");
  }
}

TEST_CASE("cost report: numbers that make no sense are refused") {
  CostQuestion question{.model = &catalogued_model("GPT-2"), .chip = &catalogued_chip("A100-80GB")};
  const auto with = [&](double CostQuestion::*member, double value) {
    CostQuestion changed = question;
    changed.*member = value;
    return changed;
  };
  CHECK_ERROR(cost_report(with(&CostQuestion::chips, 0)), "number of chips", "found 0");
  CHECK_ERROR(cost_report(with(&CostQuestion::mfu, 1.5)), "MFU");
  CHECK_ERROR(cost_report(with(&CostQuestion::batch, -1)), "batch");
  CHECK_ERROR(cost_report(with(&CostQuestion::tokens, NAN)), "tokens");
  question.format = "fp8";
  CHECK_ERROR(cost_report(question), "A100-80GB", "fp8");
  question.type = "f15";
  CHECK_ERROR(cost_report(question), "f15");
}
