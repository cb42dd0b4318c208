#include "generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

void require(bool is_right, const char* setting, const char* expected, double found) {
  if (is_right) return;
  throw Error({.what = "this value makes no sense", .where = setting, .expected = expected, .found = fixed(found, 3)});
}

// Keskar et al., 2019 (CTRL): pushed towards less likely, whatever the sign.
void penalize(Tensor& logits, std::span<const TokenId> recent, const SamplerSettings& settings) {
  if (settings.repeat_penalty == 1) return;
  const auto last = recent.last(std::min(recent.size(), static_cast<size_t>(settings.repeat_window)));
  for (const TokenId id : std::set<TokenId>(last.begin(), last.end())) {
    const double value = element(logits, id);
    set_element(logits, id, value > 0 ? value / settings.repeat_penalty : value * settings.repeat_penalty);
  }
}

TokenId draw(std::span<const Candidate> candidates, std::span<const double> probability, Random& random) {
  double left = random.uniform();
  for (size_t i = 0; i + 1 < candidates.size(); ++i) {
    left -= probability[i];
    if (left < 0) return candidates[i].id;
  }
  return candidates.back().id;  // also where rounding leaves a little of the 1
}

}  // namespace

void check(const SamplerSettings& s) {
  require(std::isfinite(s.temperature) && s.temperature >= 0, "--temp", "0 or more", s.temperature);
  require(s.top_k >= 0, "--top-k", "0 or more", s.top_k);
  require(s.top_p > 0 && s.top_p <= 1, "--top-p", "more than 0, at most 1", s.top_p);
  require(s.min_p >= 0 && s.min_p <= 1, "--min-p", "0 to 1", s.min_p);
  require(std::isfinite(s.repeat_penalty) && s.repeat_penalty > 0, "--repeat-penalty", "more than 0", s.repeat_penalty);
}

std::vector<double> probabilities(std::span<const Candidate> candidates, double temperature) {
  std::vector<double> result;
  double sum = 0;
  for (const Candidate& candidate : candidates) {
    // The largest stands first; relative to it no exp overflows, however small the temperature.
    result.push_back(std::exp((static_cast<double>(candidate.value) - candidates[0].value) / temperature));
    sum += result.back();
  }
  for (double& probability : result) probability /= sum;
  return result;
}

void keep_top_p(std::vector<Candidate>& candidates, double top_p) {
  if (top_p >= 1) return;
  const std::vector<double> probability = probabilities(candidates);
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += probability[i];
    if (sum >= top_p) return candidates.resize(i + 1);
  }
}

void keep_min_p(std::vector<Candidate>& candidates, double min_p) {
  if (min_p <= 0) return;
  const std::vector<double> probability = probabilities(candidates);
  size_t kept = 1;
  while (kept < candidates.size() && probability[kept] >= min_p * probability[0]) ++kept;
  candidates.resize(kept);
}

Sampler::Sampler(const SamplerSettings& settings, uint64_t seed) : settings_(settings), random_(seed) {
  check(settings);
}

TokenId Sampler::sample(Tensor& logits, std::span<const TokenId> recent, int position, Kernels& kernels) {
  if (const int64_t bad = kernels.first_non_finite(logits); bad >= 0) {
    throw Error({.what = "the logits are not finite: the model or its file is broken",
                 .where = "position " + std::to_string(position),
                 .expected = "finite numbers",
                 .found = fixed(element(logits, static_cast<TokenId>(bad)), 1) + " for token " + std::to_string(bad)});
  }
  penalize(logits, recent, settings_);
  for (const TokenId id : banned_) set_element(logits, id, -std::numeric_limits<double>::infinity());

  if (settings_.temperature == 0) return kernels.largest(logits, 1)[0].id;
  const int64_t count = settings_.top_k == 0 ? logits.shape[0] : settings_.top_k;
  std::vector<Candidate> candidates = kernels.largest(logits, count);
  keep_top_p(candidates, settings_.top_p);
  keep_min_p(candidates, settings_.min_p);
  return draw(candidates, probabilities(candidates, settings_.temperature), random_);
}

}  // namespace orrery
