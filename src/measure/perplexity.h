// How well a model predicts a text. The recipe, which any figure depends on: the text is cut into windows of `window`
// tokens that begin `stride` tokens apart; each window starts with BOS where the model's file asks for one; every token
// of the text is scored once, in the first window that it appears in, so after the first window each has at least
// window - stride tokens before it. The perplexity is exp of the mean of -log p.
#pragma once

#include <functional>
#include <span>

#include "model/language_model.h"

namespace orrery {

struct PerplexityOptions {
  int window = 512;        // tokens in the model's sight, BOS among them
  int stride = 256;        // 1 to window (less one where there is a BOS)
  TokenId bos = kNoToken;  // kNoToken: windows begin with a token of the text, which then cannot be scored
};

struct PerplexityResult {
  int64_t scored = 0;         // tokens
  double mean_loss = 0;       // nats per token
  double standard_error = 0;  // of mean_loss
  double perplexity = 0;      // exp(mean_loss)
};

// `on_progress(done, all)` gets numbers of scored tokens; false gives up and returns what there is. Throws Error for
// options that do not fit the model, and for a text of too few tokens.
PerplexityResult perplexity(LanguageModel& model, std::span<const TokenId> text, const PerplexityOptions& options,
                            Kernels& kernels, Arena& arena,
                            const std::function<bool(int64_t, int64_t)>& on_progress = {});

}  // namespace orrery
