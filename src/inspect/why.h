// Why this token? What each step of a sampler made of the candidates that it was given.
#pragma once

#include <span>
#include <vector>

#include "generate/sampler.h"

namespace orrery {

// How things stand after one step. The steps are "model" (the logits as they came), "repeat-penalty" (and tokens that
// are banned), "top-k", "top-p", "min-p" and "temp"; those that are switched off are left out.
struct SamplerStage {
  const char* name = "";
  int left = 0;  // candidates that can still be drawn
  // Of Explanation::tokens, in their order:
  std::vector<int> rank;            // 1 is the likeliest; 0: no candidate any more
  std::vector<double> probability;  // among those that are left, at temperature 1 before the last step
};

struct Explanation {
  int position = 0;  // of the token drawn
  TokenId drawn = kNoToken;
  bool is_greedy = false;            // temperature 0: the likeliest after the penalty, nothing was drawn
  double before = 0;                 // probability, in the last stage, of all that are likelier than the one drawn
  double random = 0;                 // [0, 1): the probabilities of the last stage are added up until they pass it
  std::vector<TokenId> tokens;       // those that are followed: the likeliest, and the one drawn
  std::vector<SamplerStage> stages;  // in their order; the last one has what was drawn from
  size_t index_of_drawn() const;     // in `tokens`
};

// A sampler that draws the same tokens as Sampler would, and keeps the reasons. Each step is computed by the functions
// that Sampler calls; the penalty is read off the logits that it leaves behind.
class ExplainedSampler : public Sampler {
 public:
  // Follows the `followed` likeliest tokens.
  ExplainedSampler(const SamplerSettings& settings, uint64_t seed, int followed = 12);

  TokenId sample(Tensor& logits, std::span<const TokenId> recent, int position, Kernels& kernels) override;

  const std::vector<Explanation>& explanations() const { return explanations_; }

 private:
  SamplerSettings settings_;
  Random twin_;  // gives the numbers that Sampler's own generator gives
  int followed_;
  std::vector<Explanation> explanations_;
};

}  // namespace orrery
