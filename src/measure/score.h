// How likely a model finds a text: log p of its tokens, natural logarithms. Many texts go through one forward pass.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/language_model.h"

namespace orrery {

// Called between forward passes with what is done; false gives up.
using OnProgress = std::function<bool(int64_t done, int64_t all)>;

// The token that a text begins behind: BOS, else the first end token. Throws Error where the vocabulary has neither.
TokenId beginning_token(const Vocabulary& vocabulary);
// The token that ends a text: the first end token, else BOS. Throws Error where the vocabulary has neither.
TokenId ending_token(const Vocabulary& vocabulary);
// The beginning token and the tokens of `text`, whatever the file says about adding it.
std::vector<TokenId> tokens_behind_beginning(const Tokenizer& tokenizer, std::string_view text);

// Rows that one forward pass is given, if texts are not longer by themselves.
constexpr int64_t kScoreRows = 2048;

// Whether log_probabilities() can score so many tokens: the last is only guessed, so there may be one more than the
// context is long.
bool fits_context(const LanguageModel& model, size_t n_tokens);

// Of each text: log p of all tokens but the first, each given those before it. Texts are packed into forward passes
// of at most `max_rows` rows, and none is cut. Throws Error for a text that does not fit the context or has no token,
// before anything is computed, and for a loss that is not finite. Where `on_progress` (in texts) gives up, returns what
// is done.
std::vector<double> log_probabilities(LanguageModel& model, std::span<const std::vector<TokenId>> texts,
                                      Kernels& kernels, Arena& arena, const OnProgress& on_progress = {},
                                      int64_t max_rows = kScoreRows);

// One of several ways on from a common beginning: first `tokens`, which may be none, then any one of `last`.
struct Branch {
  std::vector<TokenId> tokens;
  std::vector<TokenId> last;  // different tokens, at least one
};

// Of each branch: log p of its tokens and one of its last, given `start`, which is computed once. Throws Error where
// the start or a `last` is empty, where the context is too short, and for a loss that is not finite.
std::vector<double> branch_log_probabilities(LanguageModel& model, std::span<const TokenId> start,
                                             std::span<const Branch> branches, Kernels& kernels, Arena& arena,
                                             int64_t max_rows = kScoreRows);

}  // namespace orrery
