// The options of verbs that count and check numbers.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/option_parts.h"

namespace orrery::cli {

Verb add_calc(CLI::App& verb) {
  const auto o = std::make_shared<CalcOptions>();
  CLI::Option* formula = verb.add_option("formula", o->formula, "such as '6 * 175e9 * 300e9 FLOP in PF-day'");
  CLI::Option* model = verb.add_option("--model", o->model, "what a model of the catalogue costs")->excludes(formula);
  verb.add_flag("--list", o->list, "the models and chips of the catalogues")->excludes(formula)->excludes(model);
  verb.add_option("--digits", o->digits, "significant digits of a formula's value")
      ->check(CLI::Range(1, 17))
      ->capture_default_str();
  const auto add = [&](const char* name, std::string& value, const char* help) {
    verb.add_option(name, value, help)->needs(model)->capture_default_str();
  };
  add("--chip", o->chip, "on which chip");
  add("--chips", o->chips, "how many of them");
  add("--tokens", o->tokens, "tokens of training, also as 2.1万亿 (default: what is published)");
  add("-b,--batch", o->batch, "sequences at a time");
  add("-c,--ctx-size", o->length, "tokens of each (default: the model's context)");
  add("--type", o->type, "weights: f32 f16 bf16 fp8 int8 fp4 q8_0 q4_0 mxfp4");
  add("--kv-type", o->kv_type, "keys and values in the cache");
  add("--format", o->format, "what the chip computes in (default: bf16, else fp16, else fp32)");
  add("--mfu", o->mfu, "share of the peak that training reaches, also as 40%");
  add("--pue", o->pue, "energy of the building for that of the chips");
  add("--price-hour", o->price_hour, "dollars for an hour of a chip");
  add("--price-kwh", o->price_kwh, "dollars for a kWh");
  verb.add_flag("--explain", o->explain, "with the formulas in numbers, and their sources")->needs(model);
  verb.parse_complete_callback([o] {
    if (!o->formula.empty() || !o->model.empty() || o->list) return;
    throw CLI::ValidationError("a formula, --model NAME or --list is expected");
  });
  return [o] { return calc(*o); };
}

Verb add_claims(CLI::App& verb) {
  const auto o = std::make_shared<ClaimsOptions>();
  verb.add_option("which", o->which, "a claim, such as CL-A23, or a lesson, such as 05 (default: a line for each)");
  verb.add_option("--language", o->language, "english or chinese")
      ->check(CLI::IsMember({"english", "chinese"}))
      ->capture_default_str();
  return [o] { return claims(*o); };
}

}  // namespace orrery::cli
