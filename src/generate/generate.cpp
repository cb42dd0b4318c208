#include "generate/generate.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"

namespace orrery {
namespace {

bool contains(std::span<const TokenId> ids, TokenId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

void check_prompt(const LanguageModel& model, const SequenceState& state, std::span<const TokenId> tokens) {
  if (tokens.empty()) {
    throw Error({.what = "the prompt is empty", .where = "prompt", .hint = "give some text with -p"});
  }
  const int64_t end = state.length() + static_cast<int64_t>(tokens.size());
  if (end > model.context_length()) {
    throw Error({.what = "the prompt is longer than the context",
                 .where = "prompt",
                 .expected = "at most " + std::to_string(model.context_length()) + " tokens",
                 .found = std::to_string(end),
                 .hint = model.context_length() < model.config().context_length
                             ? "the model knows up to " + std::to_string(model.config().context_length) +
                                   " positions: use a larger -c, or a shorter text"
                             : "use a shorter text"});
  }
}

}  // namespace

Tensor prefill(LanguageModel& model, SequenceState& state, std::span<const TokenId> tokens, Kernels& kernels,
               Arena& arena, const std::function<bool()>& goes_on, std::span<Observer* const> observers) {
  check_prompt(model, state, tokens);
  Tensor logits;
  for (size_t first = 0; first < tokens.size(); first += kPrefillRows) {
    if (goes_on && !goes_on()) return {};
    const size_t count = std::min<size_t>(kPrefillRows, tokens.size() - first);
    std::vector<Row> rows;
    for (size_t i = first; i < first + count; ++i) {
      const int position = state.length() + static_cast<int>(i - first);
      rows.push_back({tokens[i], position, &state, i + 1 == tokens.size()});
    }
    arena.reset();
    logits = model.forward(rows, kernels, arena, observers);  // [0 or 1, vocab]
  }
  return logits;
}

Generation generate(LanguageModel& model, SequenceState& state, std::span<const TokenId> prompt, Sampler& sampler,
                    Kernels& kernels, Arena& arena, const GenerateOptions& options, const OnToken& on_token,
                    const std::function<bool()>& goes_on) {
  const auto fresh = prompt.subspan(static_cast<size_t>(state.length()));
  Generation result;
  result.prompt_tokens = static_cast<int>(fresh.size());
  std::vector<TokenId> text(prompt.begin(), prompt.end());

  const double start = seconds_now();
  Tensor logits = prefill(model, state, fresh, kernels, arena, goes_on, options.observers);  // [1, vocab]
  const double prefilled = seconds_now();
  result.prompt_seconds = prefilled - start;

  result.reason = logits.data == nullptr ? StopReason::asked : StopReason::token_limit;
  while (logits.data != nullptr && static_cast<int>(result.ids.size()) != options.max_tokens) {
    Tensor row = reshape(logits, {logits.shape[1]});  // [vocab]
    const TokenId next = sampler.sample(row, text, state.length(), kernels);
    result.reason = StopReason::end_token;
    if (contains(options.end_tokens, next)) break;
    result.ids.push_back(next);
    text.push_back(next);
    result.reason = StopReason::asked;
    if (!on_token(next) || (goes_on && !goes_on())) break;
    result.reason = StopReason::token_limit;
    if (static_cast<int>(result.ids.size()) == options.max_tokens) break;
    result.reason = StopReason::context_full;
    if (state.length() == model.context_length()) break;
    logits = prefill(model, state, std::span(&next, 1), kernels, arena, {}, options.observers);  // [1, vocab]
    ++result.decode_calls;
  }
  result.decode_seconds = seconds_now() - prefilled;
  result.final_length = state.length();
  return result;
}

Generation generate(LanguageModel& model, std::span<const TokenId> prompt, Sampler& sampler, Kernels& kernels,
                    Arena& arena, const GenerateOptions& options, const OnToken& on_token,
                    const std::function<bool()>& goes_on) {
  const auto state = model.new_sequence();
  return generate(model, *state, prompt, sampler, kernels, arena, options, on_token, goes_on);
}

}  // namespace orrery
