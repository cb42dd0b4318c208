#include "generate/sampler.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"

using namespace orrery;

namespace {

const std::vector<float> kLogits = {2, 1, 0, -1, -2, 2};

struct Draws {
  SamplerSettings settings{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};
  std::vector<TokenId> recent = {};
  std::vector<TokenId> banned = {};
  std::vector<float> logits = kLogits;

  // How often each token is drawn in `count` draws with one generator.
  std::vector<int> histogram(int count) const {
    ReferenceKernels<float> kernels{Threads(1)};
    Sampler sampler(settings, 42);
    sampler.ban(banned);
    std::vector<int> result(logits.size());
    for (int i = 0; i < count; ++i) {
      std::vector<float> copy = logits;
      Tensor row = make_tensor("logits", DType::F32, {static_cast<int64_t>(copy.size())},
                               reinterpret_cast<std::byte*>(copy.data()));
      ++result[static_cast<size_t>(sampler.sample(row, recent, 0, kernels))];
    }
    return result;
  }
  std::vector<TokenId> support() const {
    std::vector<TokenId> ids;
    const auto counts = histogram(4000);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) ids.push_back(static_cast<TokenId>(i));
    }
    return ids;
  }
};

}  // namespace

TEST_CASE("probabilities are those of the stored values") {
  std::ifstream file(std::string(ORRERY_TEST_DATA) + "/numbers/sampling.json");
  const auto stored = nlohmann::json::parse(file);
  const auto logits = stored["logits"].get<std::vector<float>>();
  CHECK(logits == kLogits);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < logits.size(); ++i) candidates.push_back({static_cast<int32_t>(i), logits[i]});
  const auto ours = probabilities(candidates);
  for (size_t i = 0; i < ours.size(); ++i) {
    CHECK(ours[i] == doctest::Approx(stored["probs"][i].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("temperature 0 takes the largest, the lowest id among equals") {
  Draws draws;
  draws.settings.temperature = 0;
  CHECK(draws.support() == std::vector<TokenId>{0});
}

TEST_CASE("draws follow the probabilities") {
  Draws draws;
  constexpr int kCount = 100000;
  for (const double temperature : {1.0, 0.5, 3.0}) {
    draws.settings.temperature = temperature;
    const auto counts = draws.histogram(kCount);
    double sum = 0;
    for (const float logit : kLogits) sum += std::exp(logit / temperature);
    for (size_t i = 0; i < kLogits.size(); ++i) {
      const double p = std::exp(kLogits[i] / temperature) / sum;
      const double deviation = std::sqrt(kCount * p * (1 - p));
      CHECK(std::abs(counts[i] - kCount * p) < 5 * deviation + 1);
    }
  }
}

TEST_CASE("each filter keeps what it should") {
  Draws draws;
  CHECK(draws.support().size() == 6);
  draws.settings.top_k = 3;
  CHECK(draws.support() == std::vector<TokenId>{0, 1, 5});
  draws.settings.top_k = 1;
  CHECK(draws.support() == std::vector<TokenId>{0});
  draws = {};
  // Probabilities 0.389 (0 and 5), 0.143, 0.053, 0.019, 0.007.
  for (const auto& [top_p, kept] : {std::pair{0.3, 1}, {0.389, 2}, {0.77, 2}, {0.78, 3}, {0.93, 4}, {0.999, 6}}) {
    CAPTURE(top_p);
    draws.settings.top_p = top_p;
    CHECK(draws.support().size() == static_cast<size_t>(kept));
  }
  draws = {};
  for (const auto& [min_p, kept] : {std::pair{1.0, 2}, {0.4, 2}, {0.36, 3}, {0.1, 4}, {0.01, 6}}) {
    CAPTURE(min_p);
    draws.settings.min_p = min_p;
    CHECK(draws.support().size() == static_cast<size_t>(kept));
  }
}

TEST_CASE("top-p and min-p look at what top-k has left, before the temperature") {
  Draws draws;
  draws.settings.top_k = 2;
  draws.settings.top_p = 0.5;  // of the two, each has exactly half
  CHECK(draws.support() == std::vector<TokenId>{0});
  draws = {};
  draws.settings.temperature = 100;  // nearly flat, but min-p was applied to the unheated probabilities
  draws.settings.min_p = 0.3;
  CHECK(draws.support() == std::vector<TokenId>{0, 1, 5});
}

TEST_CASE("the repetition penalty divides positive logits and multiplies negative ones, within its window") {
  Draws draws;
  draws.settings.temperature = 0;
  draws.settings.repeat_penalty = 4;
  draws.recent = {0, 0, 0};  // 2 becomes 0.5, once
  CHECK(draws.support() == std::vector<TokenId>{5});
  draws.recent = {0, 5};
  CHECK(draws.support() == std::vector<TokenId>{1});
  draws.recent.assign(100, 3);
  draws.recent.front() = 0;  // out of the window of 64
  CHECK(draws.support() == std::vector<TokenId>{0});
  draws.logits = {-1, -2};
  draws.recent = {0};
  CHECK(draws.support() == std::vector<TokenId>{1});
}

TEST_CASE("banned tokens are never drawn") {
  Draws draws;
  draws.banned = {0, 5};
  CHECK(draws.support() == std::vector<TokenId>{1, 2, 3, 4});
  draws.settings.temperature = 0;
  CHECK(draws.support() == std::vector<TokenId>{1});
}

TEST_CASE("the same seed draws the same, another seed does not, and both kernels agree") {
  FastKernels fast{Threads(1)};
  ReferenceKernels<float> reference{Threads(1)};
  const auto draw = [&](uint64_t seed, Kernels& kernels) {
    Sampler sampler({.top_k = 0}, seed);
    Random random(7);
    std::vector<TokenId> ids;
    for (int i = 0; i < 50; ++i) {
      std::vector<float> logits(1000);
      for (float& logit : logits) logit = static_cast<float>(random.normal());
      Tensor row = make_tensor("logits", DType::F32, {1000}, reinterpret_cast<std::byte*>(logits.data()));
      ids.push_back(sampler.sample(row, {}, i, kernels));
    }
    return ids;
  };
  CHECK(draw(1, fast) == draw(1, fast));
  CHECK(draw(1, fast) == draw(1, reference));
  CHECK(draw(1, fast) != draw(2, fast));
}

TEST_CASE("logits that are not finite name the position; senseless settings name the flag") {
  ReferenceKernels<float> kernels{Threads(1)};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    std::vector<float> logits = {1, bad};
    Tensor row = make_tensor("logits", DType::F32, {2}, reinterpret_cast<std::byte*>(logits.data()));
    Sampler sampler({}, 1);
    CHECK_THROWS_WITH_AS(sampler.sample(row, {}, 17, kernels), doctest::Contains("position 17"), Error);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(Sampler({.temperature = -1}, 1), doctest::Contains("--temp"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.temperature = nan}, 1), doctest::Contains("--temp"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.top_k = -1}, 1), doctest::Contains("--top-k"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.top_p = 0}, 1), doctest::Contains("--top-p"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.top_p = nan}, 1), doctest::Contains("--top-p"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.min_p = 1.5}, 1), doctest::Contains("--min-p"), Error);
  CHECK_THROWS_WITH_AS(Sampler({.repeat_penalty = 0}, 1), doctest::Contains("--repeat-penalty"), Error);
}
