// orrery perplexity: how well a model predicts a text.
#include "measure/perplexity.h"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "base/error.h"
#include "base/format.h"
#include "base/progress.h"
#include "cli/session.h"

namespace orrery::cli {

int perplexity(const PerplexityOptions& options) {
  const auto session = open_session(options.model, true);
  const Vocabulary& vocabulary = session->tokenizer->vocabulary();
  const std::string text = given_text(options.text, "");
  const std::vector<TokenId> tokens = session->tokenizer->encode(text, {.bos = false});
  print_banner(*session, options.model);

  orrery::PerplexityOptions recipe;
  recipe.window = std::min(options.window, session->model->context_length());
  recipe.stride = options.stride > 0 ? options.stride : recipe.window / 2;
  recipe.bos = vocabulary.add_bos ? vocabulary.bos : kNoToken;
  std::fprintf(stderr, "windows of %d tokens, %d apart, %s BOS; each token scored once\n", recipe.window, recipe.stride,
               recipe.bos == kNoToken ? "without" : "each after");

  catch_interrupt();
  Progress progress("perplexity");
  const PerplexityResult result = orrery::perplexity(*session->model, tokens, recipe, *session->kernels, session->arena,
                                                     [&](int64_t done, int64_t all) {
                                                       progress.show(done, all);
                                                       return !interrupted();
                                                     });
  progress.clear();
  if (interrupted()) return kInterrupted;
  const double bits_per_byte =
      result.mean_loss * static_cast<double>(result.scored) / std::numbers::ln2 / static_cast<double>(text.size());
  print("perplexity " + fixed(result.perplexity, 4) + " ± " + fixed(result.perplexity * result.standard_error, 4) +
        " (" + fixed(result.mean_loss, 4) + " nats per token, " + fixed(bits_per_byte, 4) + " bits per byte; " +
        with_separators(result.scored) + " tokens)\n");
  return kDone;
}

}  // namespace orrery::cli
