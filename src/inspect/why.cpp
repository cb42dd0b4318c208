#include "inspect/why.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace orrery {
namespace {

struct Step {
  const char* name;
  std::vector<Candidate> candidates;  // largest first
  std::vector<double> probability;
};

Step step(const char* name, const std::vector<Candidate>& candidates, double temperature = 1) {
  return {name, candidates, probabilities(candidates, temperature)};
}

// What Sampler::sample does between the penalty and the draw.
void add_draw_steps(std::vector<Step>& steps, const SamplerSettings& settings, const Tensor& logits, Kernels& kernels) {
  const int64_t count = settings.top_k == 0 ? logits.shape[0] : settings.top_k;
  std::vector<Candidate> candidates = kernels.largest(logits, count);
  if (settings.top_k > 0) steps.push_back(step("top-k", candidates));
  keep_top_p(candidates, settings.top_p);
  if (settings.top_p < 1) steps.push_back(step("top-p", candidates));
  keep_min_p(candidates, settings.min_p);
  if (settings.min_p > 0) steps.push_back(step("min-p", candidates));
  steps.push_back(step("temp", candidates, settings.temperature));
}

// The likeliest of the model, then those that only a penalty of others has brought up, then the one drawn.
std::vector<TokenId> followed_tokens(const std::vector<Step>& steps, size_t count, TokenId drawn) {
  std::vector<TokenId> tokens;
  const auto follow = [&](TokenId id) {
    if (std::find(tokens.begin(), tokens.end(), id) == tokens.end()) tokens.push_back(id);
  };
  for (const Step& each : steps) {
    for (size_t i = 0; i < std::min(count, each.candidates.size()); ++i) follow(each.candidates[i].id);
  }
  follow(drawn);
  return tokens;
}

SamplerStage stage_of(const Step& step, std::span<const TokenId> tokens) {
  SamplerStage stage{.name = step.name, .rank = std::vector<int>(tokens.size()), .probability = {}};
  stage.probability.resize(tokens.size());
  std::unordered_map<TokenId, size_t> index;
  for (size_t i = 0; i < tokens.size(); ++i) index[tokens[i]] = i;
  for (size_t i = 0; i < step.candidates.size(); ++i) {
    if (std::isinf(step.candidates[i].value)) continue;  // banned
    ++stage.left;
    const auto found = index.find(step.candidates[i].id);
    if (found == index.end()) continue;
    stage.rank[found->second] = static_cast<int>(i) + 1;
    stage.probability[found->second] = step.probability[i];
  }
  return stage;
}

double probability_before(const Step& last, TokenId drawn) {
  double sum = 0;
  for (size_t i = 0; i < last.candidates.size() && last.candidates[i].id != drawn; ++i) sum += last.probability[i];
  return sum;
}

}  // namespace

size_t Explanation::index_of_drawn() const {
  return static_cast<size_t>(std::find(tokens.begin(), tokens.end(), drawn) - tokens.begin());
}

ExplainedSampler::ExplainedSampler(const SamplerSettings& settings, uint64_t seed, int followed)
    : Sampler(settings, seed), settings_(settings), twin_(seed), followed_(followed) {}

TokenId ExplainedSampler::sample(Tensor& logits, std::span<const TokenId> recent, int position, Kernels& kernels) {
  std::vector<std::byte> bytes(logits.data, logits.data + n_bytes(logits));
  Tensor before = logits;
  before.data = bytes.data();
  const int64_t vocab = logits.shape[0];

  Explanation why{.position = position, .drawn = Sampler::sample(logits, recent, position, kernels)};
  why.is_greedy = settings_.temperature == 0;
  if (!why.is_greedy) why.random = twin_.uniform();

  std::vector<Step> steps = {step("model", kernels.largest(before, vocab))};
  // `logits` is now what the penalty and the ban have left.
  const bool is_changed = std::memcmp(logits.data, bytes.data(), bytes.size()) != 0;
  if (is_changed || settings_.repeat_penalty != 1)
    steps.push_back(step("repeat-penalty", kernels.largest(logits, vocab)));
  if (!why.is_greedy) add_draw_steps(steps, settings_, logits, kernels);

  why.before = probability_before(steps.back(), why.drawn);
  why.tokens = followed_tokens(steps, static_cast<size_t>(followed_), why.drawn);
  for (const Step& each : steps) why.stages.push_back(stage_of(each, why.tokens));
  explanations_.push_back(std::move(why));
  return explanations_.back().drawn;
}

}  // namespace orrery
