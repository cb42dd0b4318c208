// What the lens reads, compared with the model's own logits and with models that really end there.
#include "inspect/lens.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr int kTop = 4;

// The guesses are the largest of softmax(logits), computed here in double precision.
void check_guesses(std::span<const Guess> guesses, std::span<const double> logits) {
  REQUIRE(guesses.size() == kTop);
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  double before = 2;
  for (const Guess& guess : guesses) {
    const double expected = std::exp(logits[static_cast<size_t>(guess.token)] - largest) / sum;
    CHECK(guess.probability == doctest::Approx(expected).epsilon(1e-4));
    CHECK(guess.probability <= before);
    before = guess.probability;
  }
  const auto above = std::ranges::count_if(
      logits, [&](double logit) { return std::exp(logit - largest) / sum > guesses.back().probability * 1.0001; });
  CHECK(above < kTop);  // no likelier one is missing
}

std::shared_ptr<const Checkpoint> ended_after(const Checkpoint& whole, int n_layers) {
  auto cut = std::make_shared<Checkpoint>(whole);
  cut->config.n_layers = n_layers;
  return cut;
}

}  // namespace

TEST_CASE("Lens: each depth says what a model with so many layers says, in every family") {
  for (int variant = 0; variant < kVariants; ++variant) {
    CAPTURE(variant);
    const ModelConfig config = small_config(variant);
    const auto checkpoint = random_model(config, DType::F32);
    Transformer model(checkpoint);
    ReferenceKernels<float> kernels{Threads(1)};
    const auto ids = random_ids(21, config.vocab_size, 5);
    Lens lens(model, kernels, kTop);
    Observer* const observers[] = {&lens};
    Arena arena;
    const auto state = model.new_sequence();
    prefill(model, *state, ids, kernels, arena, {}, observers);
    REQUIRE(lens.n_depths() == config.n_layers + 1);
    REQUIRE(lens.positions().size() == ids.size());
    for (int depth = 1; depth <= config.n_layers; ++depth) {
      CAPTURE(depth);
      Transformer ended(ended_after(*checkpoint, depth));
      const auto logits = uncached_logits(ended, kernels, ids);
      for (const int position : lens.positions()) {
        CAPTURE(position);
        const auto vocab = static_cast<size_t>(config.vocab_size);
        check_guesses(lens.at(depth, position),
                      std::span(logits).subspan(static_cast<size_t>(position) * vocab, vocab));
      }
    }
  }
}

TEST_CASE(
    "Lens: token by token it reads what it reads in one call, also in double precision; the model goes on as before") {
  const ModelConfig config = small_config(6);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<double> kernels{Threads(1)};
  FastKernels fast{Threads(1)};
  const auto ids = random_ids(20, config.vocab_size, 6);
  Lens whole(model, fast, kTop), single(model, kernels, kTop);
  Arena arena;
  Observer* const watching_whole[] = {&whole};
  Observer* const watching_single[] = {&single};
  const auto first = model.new_sequence();
  Transformer precise(random_model(config, DType::F32), {.key_type = DType::F64, .value_type = DType::F64});
  const auto second = precise.new_sequence();
  const auto watched = numbers(prefill(model, *first, ids, fast, arena, {}, watching_whole));
  for (const TokenId& id : ids) prefill(precise, *second, std::span(&id, 1), kernels, arena, {}, watching_single);
  for (int depth = 0; depth < whole.n_depths(); ++depth) {
    for (const int position : whole.positions()) {
      CHECK(whole.at(depth, position)[0].token == single.at(depth, position)[0].token);
      CHECK(whole.at(depth, position)[0].probability ==
            doctest::Approx(single.at(depth, position)[0].probability).epsilon(1e-3));
    }
  }
  CHECK(watched == numbers(prefill(model, *model.new_sequence(), ids, fast, arena)));
}

TEST_CASE("Lens: looks at the positions chosen, and says where it has not looked") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  Lens lens(model, kernels, 1, [](int position) { return position % 3 == 2; });
  Observer* const observers[] = {&lens};
  Arena arena;
  const auto state = model.new_sequence();
  prefill(model, *state, random_ids(40, config.vocab_size, 1), kernels, arena, {}, observers);
  CHECK(lens.positions() == std::vector<int>{2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38});
  CHECK(lens.at(0, 38).size() == 1);
  CHECK_ERROR(lens.at(0, 3), "the lens has not looked there", "position 3, depth 0");
  CHECK_ERROR(lens.at(3, 2), "depth 3");
  CHECK_ERROR(lens.at(-1, 2), "depth -1");
}
