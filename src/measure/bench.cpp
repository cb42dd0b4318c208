#include "measure/bench.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "config/arithmetic.h"
#include "generate/generate.h"
#include "model/weights.h"

namespace orrery {
namespace {

std::vector<TokenId> random_tokens(int count, int vocab_size, uint64_t seed) {
  Random random(seed);
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(static_cast<uint64_t>(vocab_size)));
  return tokens;
}

// Seconds for the tokens of the case, on a sequence that already holds `depth` positions.
double measure_once(const BenchSetup& setup, const BenchCase& what, SequenceState& state, Kernels& kernels,
                    Arena& arena) {
  const int count = what.prompt > 0 ? what.prompt : what.generate;
  const auto tokens = random_tokens(count, setup.model.config().vocab_size, 1);
  state.truncate(what.depth);
  const double start = seconds_now();
  if (what.prompt > 0) {
    prefill(setup.model, state, tokens, kernels, arena);
  } else {
    for (const TokenId token : tokens) prefill(setup.model, state, std::span(&token, 1), kernels, arena);
  }
  return seconds_now() - start;
}

void check_fits(const BenchSetup& setup, const BenchCase& what) {
  const int end = what.depth + what.prompt + what.generate;
  if (end <= setup.model.context_length()) return;
  throw Error({.what = "the test is longer than the context",
               .where = what.name(),
               .expected = "at most " + std::to_string(setup.model.context_length()) + " positions",
               .found = std::to_string(end)});
}

double limit_of(const BenchSetup& setup, const BenchCase& what, const MachineLimits& limits) {
  if (what.prompt > 0) return limits.flops_per_second;
  return setup.is_mapped ? limits.mapped_bytes_per_second : limits.huge_page_bytes_per_second;
}

void fill_statistics(BenchResult& result, const BenchSetup& setup, const std::vector<double>& seconds) {
  const BenchCase& what = result.what;
  const double count = what.prompt > 0 ? what.prompt : what.generate;
  const auto n = static_cast<double>(seconds.size());
  for (const double s : seconds) result.tokens_per_second += count / s / n;
  double variance = 0;
  for (const double s : seconds) variance += std::pow(count / s - result.tokens_per_second, 2);
  result.standard_deviation = seconds.size() > 1 ? std::sqrt(variance / (n - 1)) : 0;
  const double work = what.prompt > 0 ? prefill_flops(setup, what) : decode_bytes_per_token(setup, what) * count;
  result.achieved = work / median(seconds);
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string BenchCase::name() const {
  const std::string test = prompt > 0 ? "pp" + std::to_string(prompt) : "tg" + std::to_string(generate);
  return depth > 0 ? test + " @ d" + std::to_string(depth) : test;
}

double decode_bytes_per_token(const BenchSetup& setup, const BenchCase& what) {
  const double mean_length = what.depth + (what.generate + 1) / 2.0;
  const auto per_position =
      static_cast<double>(kv_bytes_per_position(setup.model.config(), setup.key_type, setup.value_type));
  return static_cast<double>(weight_bytes_per_token(*setup.checkpoint)) + mean_length * per_position;
}

double prefill_flops(const BenchSetup& setup, const BenchCase& what) {
  // Two operations for each weight and row, the causal half of attention, logits of the last row only.
  const FlopCount flops =
      forward_flops(setup.model.config(), consecutive_rows(setup.model.config(), what.depth, what.prompt, 1));
  return static_cast<double>(flops.matmul + flops.attention_products);
}

BenchResult bench(const BenchSetup& setup, const BenchCase& what, const LimitMeter& meter) {
  check_fits(setup, what);
  const Threads threads(what.threads);
  const auto kernels = setup.make_kernels(what.threads);
  Arena arena;
  const auto state = setup.model.new_sequence();
  if (what.depth > 0) {
    prefill(setup.model, *state, random_tokens(what.depth, setup.model.config().vocab_size, 2), *kernels, arena);
  }
  BenchCase warm_up = what;
  warm_up.generate = std::min(what.generate, 4);
  measure_once(setup, warm_up, *state, *kernels, arena);

  BenchResult result{.what = what};
  std::vector<double> seconds, limits;
  for (int i = 0; i < setup.repetitions; ++i) {
    result.limits = meter.measure(threads);
    limits.push_back(limit_of(setup, what, result.limits));
    seconds.push_back(measure_once(setup, what, *state, *kernels, arena));
  }
  if (setup.times_operations) {
    TimingKernels timing(*kernels);
    measure_once(setup, what, *state, timing, arena);
    result.operations = timing.totals();
  }
  result.limit = median(limits);
  fill_statistics(result, setup, seconds);
  return result;
}

}  // namespace orrery
