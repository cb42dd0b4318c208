// What a language model costs: counted on paper, counted while it computes, and measured.
#pragma once

#include <functional>
#include <vector>

#include "base/parallel.h"
#include "compare/contestant.h"

namespace orrery {

struct CountedCosts {
  int64_t parameters_by_formula = 0, parameters_by_count = 0;  // of the weights that there are
  std::vector<int64_t> contexts;                               // positions that came before a token
  std::vector<int64_t> flops_by_formula, flops_by_count;       // of that token, with its logits
  std::vector<uint64_t> state_bytes;                           // what the sequence remembers then
};
CountedCosts count_costs(const Contestant& contestant, const std::vector<int64_t>& contexts);

// Seconds of a token after so many positions, decoded one by one with one sequence: the median of `repetitions`.
std::vector<double> seconds_per_token(const Contestant& contestant, const std::vector<int64_t>& contexts,
                                      int repetitions, const Threads& threads);

// Tokens of training steps (there and back, and the optimizer) in a second, of about `tokens_per_step` tokens in texts
// of this length: the median of `repetitions` steps.
double training_tokens_per_second(const Contestant& contestant, int length, int tokens_per_step, int repetitions,
                                  const Threads& threads);

// How much of the gradient of a text's last loss arrives at each of the positions before, in a model that has not
// learned: the mean over `texts` texts of the length of the embedding's gradient. Line d is the position d steps before
// the last row; there are steps + 1.
std::vector<double> gradient_reach(const Contestant& contestant, int steps, int texts, uint64_t seed,
                                   const Threads& threads);

}  // namespace orrery
