#include "compare/recall_task.h"

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"

namespace orrery {

RecallTask::Question RecallTask::question(Random& random, int noise) const {
  if (n_pairs < 1 || n_pairs > n_keys || n_values < 1 || n_noises < 1 || noise < 0) {
    throw Error({.what = "there is no such recall task",
                 .where = "recall",
                 .expected = "1 to " + std::to_string(n_keys) + " pairs, noise of 0 or more",
                 .found = std::to_string(n_pairs) + " pairs, noise " + std::to_string(noise)});
  }
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<uint64_t>(n))); };
  std::vector<TokenId> keys(static_cast<size_t>(n_keys));
  std::iota(keys.begin(), keys.end(), 0);
  Question question;
  std::vector<TokenId> answers;
  for (int i = 0; i < n_pairs; ++i) {
    std::swap(keys[static_cast<size_t>(i)], keys[static_cast<size_t>(i + below(n_keys - i))]);
    answers.push_back(n_keys + below(n_values));
    question.tokens.push_back(keys[static_cast<size_t>(i)]);
    question.tokens.push_back(answers.back());
  }
  for (int i = 0; i < noise; ++i) question.tokens.push_back(n_keys + below(n_values + n_noises));
  const auto asked = static_cast<size_t>(below(n_pairs));
  question.tokens.push_back(this->question());
  question.tokens.push_back(keys[asked]);
  question.tokens.push_back(answers[asked]);
  question.weights.assign(question.tokens.size() - 1, 0.0f);
  question.weights.back() = 1;
  return question;
}

int RecallTask::noise_up_to(int longest, Random& random) {
  return static_cast<int>(std::pow(longest + 2.0, random.uniform())) - 1;
}

}  // namespace orrery
