// From a row of logits to one token. The steps, in this order: repetition penalty, top-k, top-p, min-p, temperature,
// draw. Each looks at what the one before has left.
#pragma once

#include <span>
#include <vector>

#include "base/random.h"
#include "kernels/kernels.h"
#include "text/tokenizer.h"

namespace orrery {

struct SamplerSettings {
  double temperature = 0.8;     // 0: greedy, the largest logit, whatever stands below
  int top_k = 40;               // keep the k largest; 0: all
  double top_p = 0.95;          // keep the largest that together reach this probability; 1: all
  double min_p = 0.05;          // keep those with at least this share of the largest probability; 0: all
  double repeat_penalty = 1.0;  // logits of recent tokens are divided by it (multiplied where negative); 1: off
  int repeat_window = 64;       // tokens that count as recent
};
constexpr SamplerSettings kWholeDistribution = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};

// Throws Error that names the setting.
void check(const SamplerSettings& settings);

// The steps one by one, on candidates sorted from the largest.
void keep_top_p(std::vector<Candidate>& candidates, double top_p);
void keep_min_p(std::vector<Candidate>& candidates, double min_p);
// exp(value / temperature), normed to a sum of 1. Values are finite.
std::vector<double> probabilities(std::span<const Candidate> candidates, double temperature = 1);

class Sampler {
 public:
  Sampler(const SamplerSettings& settings, uint64_t seed);
  virtual ~Sampler() = default;

  // Tokens that are never drawn (the end tokens under --ignore-eos).
  void ban(std::span<const TokenId> tokens) { banned_.assign(tokens.begin(), tokens.end()); }

  // `logits` [vocab] is changed by penalties; `recent` are the tokens of the text so far. `position` is that of the
  // token to be drawn, for the message of the Error thrown where a logit is NaN or infinite.
  virtual TokenId sample(Tensor& logits, std::span<const TokenId> recent, int position, Kernels& kernels);

 private:
  SamplerSettings settings_;
  Random random_;
  std::vector<TokenId> banned_;
};

}  // namespace orrery
