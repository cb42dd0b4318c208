// The reasons of a sampler, compared with the sampler itself and with probabilities computed by hand.
#include "inspect/why.h"

#include <cmath>

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<float> random_logits(Random& random, size_t count) {
  std::vector<float> logits(count);
  for (float& logit : logits) logit = static_cast<float>(3 * random.normal());
  return logits;
}

Tensor row_of(std::vector<float>& logits) {
  return make_tensor("logits", DType::F32, {static_cast<int64_t>(logits.size())},
                     reinterpret_cast<std::byte*>(logits.data()));
}

Explanation explained(std::vector<double> probability, const SamplerSettings& settings,
                      const std::vector<TokenId>& recent = {}, const std::vector<TokenId>& banned = {}) {
  ReferenceKernels<float> kernels{Threads(1)};
  std::vector<float> logits;
  for (const double p : probability) logits.push_back(static_cast<float>(std::log(p)));
  Tensor row = row_of(logits);
  ExplainedSampler sampler(settings, 1);
  sampler.ban(banned);
  sampler.sample(row, recent, 7, kernels);
  return sampler.explanations().at(0);
}

void check_stage(const SamplerStage& stage, std::string_view name, int left, const std::vector<int>& rank,
                 const std::vector<double>& probability) {
  CAPTURE(name);
  CHECK(stage.name == name);
  CHECK(stage.left == left);
  CHECK(stage.rank == rank);
  REQUIRE(stage.probability.size() == probability.size());
  for (size_t i = 0; i < probability.size(); ++i)
    CHECK(stage.probability[i] == doctest::Approx(probability[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("why: each stage has the probabilities that one gets by hand") {
  const SamplerSettings settings{.temperature = 0.5, .top_k = 4, .top_p = 0.9, .min_p = 0.5};
  const Explanation why = explained({0.04, 0.4, 0.1, 0.16, 0.3}, settings);
  CHECK(why.position == 7);
  CHECK_FALSE(why.is_greedy);
  REQUIRE(why.tokens == std::vector<TokenId>{1, 4, 3, 2, 0});
  REQUIRE(why.stages.size() == 5);
  check_stage(why.stages[0], "model", 5, {1, 2, 3, 4, 5}, {0.4, 0.3, 0.16, 0.1, 0.04});
  check_stage(why.stages[1], "top-k", 4, {1, 2, 3, 4, 0}, {0.4 / 0.96, 0.3 / 0.96, 0.16 / 0.96, 0.1 / 0.96, 0});
  check_stage(why.stages[2], "top-p", 4, {1, 2, 3, 4, 0}, {0.4 / 0.96, 0.3 / 0.96, 0.16 / 0.96, 0.1 / 0.96, 0});
  check_stage(why.stages[3], "min-p", 2, {1, 2, 0, 0, 0}, {0.4 / 0.7, 0.3 / 0.7, 0, 0, 0});
  check_stage(why.stages[4], "temp", 2, {1, 2, 0, 0, 0}, {0.16 / 0.25, 0.09 / 0.25, 0, 0, 0});
  const Explanation tight =
      explained({0.04, 0.4, 0.1, 0.16, 0.3}, {.temperature = 1, .top_k = 0, .top_p = 0.65, .min_p = 0});
  REQUIRE(tight.stages.size() == 3);
  CHECK(tight.stages[1].left == 2);
}

TEST_CASE("why: the penalty and banned tokens are a stage of their own, before all others") {
  // Logits below zero are multiplied: log(p) * 2 is p squared.
  const Explanation why = explained(
      {0.5, 0.3, 0.2}, {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .repeat_penalty = 2}, {0, 2, 0}, {1});
  REQUIRE(why.tokens == std::vector<TokenId>{0, 1, 2});
  REQUIRE(why.stages.size() == 3);
  check_stage(why.stages[1], "repeat-penalty", 2, {1, 0, 2}, {0.25 / 0.29, 0, 0.04 / 0.29});
  check_stage(why.stages[2], "temp", 2, {1, 0, 2}, {0.25 / 0.29, 0, 0.04 / 0.29});
}

TEST_CASE("why: greedy says so, and nothing after the penalty") {
  const Explanation why = explained({0.2, 0.5, 0.3}, {.temperature = 0});
  CHECK(why.is_greedy);
  CHECK(why.drawn == 1);
  REQUIRE(why.stages.size() == 1);
  CHECK(why.stages[0].rank[why.index_of_drawn()] == 1);
  CHECK(why.before == 0);
}

TEST_CASE("why: draws what Sampler draws, and the random number falls where the drawn token lies") {
  ReferenceKernels<float> kernels{Threads(1)};
  const std::vector<SamplerSettings> all = {
      {},
      {.temperature = 1.7, .top_k = 0, .top_p = 1, .min_p = 0},
      {.temperature = 0.3, .top_k = 7, .top_p = 0.6, .min_p = 0.1, .repeat_penalty = 1.5},
      {.temperature = 1, .top_k = 0, .top_p = 0.99, .min_p = 0, .repeat_penalty = 0.5},
      {.temperature = 0},
  };
  for (const SamplerSettings& settings : all) {
    Sampler plain(settings, 11);
    ExplainedSampler explained(settings, 11, 3);
    const std::vector<TokenId> banned = {5, 6};
    plain.ban(banned);
    explained.ban(banned);
    Random random(3);
    std::vector<TokenId> text;
    for (int position = 0; position < 200; ++position) {
      std::vector<float> a = random_logits(random, 50), b = a;
      Tensor row_a = row_of(a), row_b = row_of(b);
      const TokenId expected = plain.sample(row_a, text, position, kernels);
      REQUIRE(explained.sample(row_b, text, position, kernels) == expected);
      text.push_back(expected);
      const Explanation& why = explained.explanations().back();
      const size_t drawn = why.index_of_drawn();
      CHECK(why.drawn == expected);
      REQUIRE(drawn < why.tokens.size());
      for (const SamplerStage& stage : why.stages) {
        CHECK(stage.rank[drawn] > 0);
        CHECK(stage.rank[drawn] <= stage.left);
      }
      for (size_t i = 1; i < why.stages.size(); ++i) CHECK(why.stages[i].left <= why.stages[i - 1].left);
      if (settings.temperature == 0) continue;
      CHECK(why.random >= why.before - 1e-12);
      CHECK(why.random <= why.before + why.stages.back().probability[drawn] + 1e-12);
    }
    CHECK(explained.explanations().size() == 200);
  }
}
