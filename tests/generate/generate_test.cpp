#include "generate/generate.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/fast/fast_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Fixture {
  ModelConfig config = small_config(0);
  Transformer model{random_model(config, DType::F32), {.context_length = 20}};
  FastKernels kernels{Threads(1)};
  Arena arena;
  std::vector<TokenId> prompt = {1, 2, 3};

  Generation run(
      const GenerateOptions& options, const OnToken& on_token = [](TokenId) { return true; }, double temperature = 0,
      uint64_t seed = 1) {
    Sampler sampler({.temperature = temperature}, seed);
    return generate(model, prompt, sampler, kernels, arena, options, on_token);
  }
};

}  // namespace

TEST_CASE("generation ends where it is told to") {
  Fixture f;
  const Generation eight = f.run({.max_tokens = 8});
  CHECK(eight.ids.size() == 8);
  CHECK(eight.reason == StopReason::token_limit);
  CHECK(eight.decode_calls == 7);
  CHECK(eight.prompt_tokens == 3);
  CHECK(eight.final_length == 10);

  const Generation none = f.run({.max_tokens = 0});
  CHECK(none.ids.empty());

  const Generation all = f.run({});
  CHECK(all.reason == StopReason::context_full);
  CHECK(all.ids.size() == 18);  // 20 positions hold the prompt and 17; the 18th was drawn from the last of them
  CHECK(all.final_length == 20);

  const TokenId third = eight.ids[2];
  const Generation ended = f.run({.max_tokens = 8, .end_tokens = {299, third}});
  CHECK(ended.reason == StopReason::end_token);
  CHECK(ended.ids.size() <= 2);
  CHECK(std::equal(ended.ids.begin(), ended.ids.end(), eight.ids.begin()));

  int calls = 0;
  const Generation asked = f.run({.max_tokens = 8}, [&](TokenId) { return ++calls < 3; });
  CHECK(asked.reason == StopReason::asked);
  CHECK(asked.ids.size() == 3);
}

TEST_CASE("a prompt that fills the context leaves room for one token, a longer one is an error") {
  Fixture f;
  f.prompt = random_ids(20, f.config.vocab_size, 1);
  CHECK(f.run({}).ids.size() == 1);
  f.prompt.push_back(1);
  CHECK_THROWS_WITH_AS(f.run({}), doctest::Contains("at most 20 tokens, found 21"), Error);
  f.prompt.clear();
  CHECK_THROWS_WITH_AS(f.run({}), doctest::Contains("empty"), Error);
}

TEST_CASE("a state that has seen the beginning of a prompt goes on from there") {
  Fixture f;
  const Generation whole = f.run({.max_tokens = 6});
  const auto state = f.model.new_sequence();
  prefill(f.model, *state, std::span(f.prompt).first(2), f.kernels, f.arena);
  Sampler sampler({.temperature = 0}, 1);
  const auto on_token = [](TokenId) { return true; };
  const Generation rest = generate(f.model, *state, f.prompt, sampler, f.kernels, f.arena, {.max_tokens = 6}, on_token);
  CHECK(rest.ids == whole.ids);
  CHECK(rest.prompt_tokens == 1);
  CHECK(rest.final_length == whole.final_length);
  CHECK(state->length() == rest.final_length);
}

TEST_CASE("the same seed gives the same text, whatever was computed before") {
  Fixture f;
  const auto first = f.run(
                          {.max_tokens = 12}, [](TokenId) { return true; }, 0.8, 5)
                         .ids;
  CHECK(f.run(
             {.max_tokens = 12}, [](TokenId) { return true; }, 0.8, 5)
            .ids == first);
  CHECK(f.run(
             {.max_tokens = 12}, [](TokenId) { return true; }, 0.8, 6)
            .ids != first);
}

TEST_CASE("a prompt longer than one call is computed in several") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(2)};
  const auto ids = random_ids(kPrefillRows + 30, config.vocab_size, 2);
  const auto state = model.new_sequence();
  Arena arena;
  const auto ours = numbers(prefill(model, *state, ids, kernels, arena));
  CHECK(state->length() == kPrefillRows + 30);
  const auto all = uncached_logits(model, kernels, ids);
  const auto expected = std::span(all).last(static_cast<size_t>(config.vocab_size));
  CHECK(largest_difference(ours, expected) <= 1e-4 * largest_magnitude(expected));

  int asked = 0;
  const auto other = model.new_sequence();
  const Tensor nothing = prefill(model, *other, ids, kernels, arena, [&] { return ++asked < 2; });
  CHECK(nothing.data == nullptr);
  CHECK(other->length() == kPrefillRows);
}
