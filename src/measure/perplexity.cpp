#include "measure/perplexity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace orrery {
namespace {

constexpr int64_t kLogitBytes = int64_t{64} << 20;  // that one call may fill
constexpr int64_t kMostRows = 512;                  // of one call

void check(const PerplexityOptions& options, const LanguageModel& model, size_t n_tokens) {
  const int lead = options.bos == kNoToken ? 0 : 1;
  if (options.window < 2 || options.window > model.context_length()) {
    throw Error({.what = "the window does not fit the context",
                 .where = "--window",
                 .expected = "2 to " + std::to_string(model.context_length()),
                 .found = std::to_string(options.window)});
  }
  if (options.stride < 1 || options.stride > options.window - std::max(lead, 1)) {
    throw Error({.what = "the stride does not fit the window",
                 .where = "--stride",
                 .expected = "1 to " + std::to_string(options.window - std::max(lead, 1)),
                 .found = std::to_string(options.stride)});
  }
  const size_t fewest = lead == 1 ? 1 : 2;
  if (n_tokens < fewest) {
    throw Error({.what = "the text is too short to be scored",
                 .where = "text",
                 .expected = "at least " + std::to_string(fewest) + (fewest == 1 ? " token" : " tokens"),
                 .found = std::to_string(n_tokens)});
  }
}

// The losses of window[first_scored ...], each predicted from all before it.
std::vector<double> window_losses(LanguageModel& model, std::span<const TokenId> window, size_t first_scored,
                                  Kernels& kernels, Arena& arena) {
  const int64_t per_call = std::clamp<int64_t>(kLogitBytes / (int64_t{4} * model.config().vocab_size), 1, kMostRows);
  const auto state = model.new_sequence();
  std::vector<double> losses;
  // The row that predicts token i is row i - 1; the last token predicts nothing here.
  for (size_t first = 0; first + 1 < window.size(); first += static_cast<size_t>(per_call)) {
    const size_t end = std::min(window.size() - 1, first + static_cast<size_t>(per_call));
    std::vector<Row> rows;
    std::vector<TokenId> targets;
    for (size_t i = first; i < end; ++i) {
      const bool is_scored = i + 1 >= first_scored;
      rows.push_back({window[i], static_cast<int>(i), state.get(), is_scored});
      if (is_scored) targets.push_back(window[i + 1]);
    }
    arena.reset();
    const Tensor logits = model.forward(rows, kernels, arena);  // [scored rows, vocab]
    if (targets.empty()) continue;
    std::vector<double> part(targets.size());
    kernels.cross_entropy(logits, targets, part);
    losses.insert(losses.end(), part.begin(), part.end());
  }
  return losses;
}

PerplexityResult summary(const std::vector<double>& losses) {
  PerplexityResult result;
  result.scored = static_cast<int64_t>(losses.size());
  const auto n = static_cast<double>(losses.size());
  for (const double loss : losses) result.mean_loss += loss / n;
  double variance = 0;
  for (const double loss : losses) variance += (loss - result.mean_loss) * (loss - result.mean_loss) / n;
  result.standard_error = std::sqrt(variance / n);
  result.perplexity = std::exp(result.mean_loss);
  return result;
}

}  // namespace

PerplexityResult perplexity(LanguageModel& model, std::span<const TokenId> text, const PerplexityOptions& options,
                            Kernels& kernels, Arena& arena, const std::function<bool(int64_t, int64_t)>& on_progress) {
  check(options, model, text.size());
  const size_t lead = options.bos == kNoToken ? 0 : 1;
  const size_t body = static_cast<size_t>(options.window) - lead;  // tokens of the text in a window
  std::vector<double> losses;
  size_t scored_to = lead == 1 ? 0 : 1;  // tokens of the text that need no more scoring; nothing predicts the first
  const size_t to_score = text.size() - scored_to;
  for (size_t begin = 0; scored_to < text.size(); begin += static_cast<size_t>(options.stride)) {
    const size_t end = std::min(text.size(), begin + body);
    std::vector<TokenId> window(lead, options.bos);
    window.insert(window.end(), text.begin() + static_cast<std::ptrdiff_t>(begin),
                  text.begin() + static_cast<std::ptrdiff_t>(end));
    const auto part = window_losses(model, window, scored_to - begin + lead, kernels, arena);
    losses.insert(losses.end(), part.begin(), part.end());
    scored_to = end;
    const auto done = static_cast<int64_t>(losses.size());
    if (on_progress && !on_progress(done, static_cast<int64_t>(to_score))) break;
  }
  for (size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) continue;
    throw Error({.what = "the loss is not finite: the model or its file is broken",
                 .where = "token " + std::to_string(i + (lead == 1 ? 0 : 1)) + " of the text"});
  }
  return summary(losses);
}

}  // namespace orrery
