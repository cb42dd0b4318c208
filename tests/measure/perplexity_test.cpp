#include "measure/perplexity.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/reference/reference_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// The recipe once more, in the plainest way: a fresh pass for every scored token.
double naive_loss(LanguageModel& model, Kernels& kernels, const std::vector<TokenId>& text, int window, int stride,
                  TokenId bos) {
  const int body = window - (bos == kNoToken ? 0 : 1);
  double sum = 0;
  int scored = 0;
  for (int target = bos == kNoToken ? 1 : 0; target < static_cast<int>(text.size()); ++target) {
    int begin = 0;
    while (begin + body <= target) begin += stride;  // the first window that the token appears in
    std::vector<TokenId> context;
    if (bos != kNoToken) context.push_back(bos);
    context.insert(context.end(), text.begin() + begin, text.begin() + target);
    const auto logits = uncached_logits(model, kernels, context);
    const auto last = std::span(logits).last(static_cast<size_t>(model.config().vocab_size));
    double total = 0;
    for (const double logit : last) total += std::exp(logit);
    sum += std::log(total) - last[static_cast<size_t>(text[static_cast<size_t>(target)])];
    ++scored;
  }
  return sum / scored;
}

}  // namespace

TEST_CASE("perplexity follows its recipe, with and without BOS, for any window and stride") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  const auto text = random_ids(23, config.vocab_size, 1);
  for (const TokenId bos : {kNoToken, TokenId{1}}) {
    for (const auto& [window, stride] : {std::pair{8, 4}, {8, 7}, {5, 1}, {64, 32}, {23, 10}, {24, 10}}) {
      CAPTURE(bos);
      CAPTURE(window);
      const auto result = perplexity(model, text, {window, stride, bos}, kernels, arena);
      CHECK(result.scored == (bos == kNoToken ? 22 : 23));
      CHECK(result.mean_loss == doctest::Approx(naive_loss(model, kernels, text, window, stride, bos)).epsilon(1e-6));
      CHECK(result.perplexity == doctest::Approx(std::exp(result.mean_loss)));
    }
  }
}

TEST_CASE("perplexity refuses what cannot be scored and stops when asked") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32), {.context_length = 32});
  ReferenceKernels<float> kernels{Threads(1)};
  Arena arena;
  const auto text = random_ids(40, config.vocab_size, 1);
  const std::vector<TokenId> single = {5};
  CHECK_THROWS_WITH_AS(perplexity(model, text, {33, 1, kNoToken}, kernels, arena), doctest::Contains("--window"),
                       Error);
  CHECK_THROWS_WITH_AS(perplexity(model, text, {8, 8, kNoToken}, kernels, arena), doctest::Contains("--stride"), Error);
  CHECK_THROWS_WITH_AS(perplexity(model, text, {8, 0, 1}, kernels, arena), doctest::Contains("--stride"), Error);
  CHECK_THROWS_WITH_AS(perplexity(model, single, {8, 4, kNoToken}, kernels, arena), doctest::Contains("too short"),
                       Error);
  CHECK(perplexity(model, single, {8, 4, 1}, kernels, arena).scored == 1);
  int64_t all = 0;
  const auto part = perplexity(model, text, {8, 4, 1}, kernels, arena, [&](int64_t, int64_t n) {
    all = n;
    return false;
  });
  CHECK(all == 40);
  CHECK(part.scored == 7);
}
