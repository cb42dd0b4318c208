#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "learn/power_law.h"
#include "learn/story_data.h"

using namespace orrery;

TEST_CASE("power law: exact points give their law, and errors that cancel change only the scale") {
  const std::vector<double> x = {1e9, 1e10, 1e11, 1e12};
  std::vector<double> y;
  for (const double one : x) y.push_back(3 * std::pow(one, -0.25));
  const PowerLaw law = fit_power_law(x, y);
  CHECK(law.exponent == doctest::Approx(-0.25));
  CHECK(law.scale == doctest::Approx(3));
  CHECK(law.at(1e14) == doctest::Approx(3 * std::pow(1e14, -0.25)));
  for (double& one : y) one *= 1.5;
  CHECK(fit_power_law(x, y).exponent == doctest::Approx(-0.25));
  CHECK(fit_power_law(x, y).scale == doctest::Approx(4.5));
}

TEST_CASE("story data: as many stories as asked for, whole, and a floor below what guessing costs") {
  const StoryData data({.training = 60, .held_out = 20, .vocabulary_size = 400, .seed = 3});
  CHECK(data.training->size() == 60);
  CHECK(data.held_out->size() == 20);
  CHECK(data.vocabulary.pieces.size() == 400);
  const auto ids = data.held_out->document(0);
  CHECK(ids.front() == data.vocabulary.bos);
  CHECK(StoryWorld::built_in()
            .parse(data.tokenizer->decode(ids.subspan(1, ids.size() - 2)), Language::english)
            .derivations == 1);
  CHECK(data.floor > 0.05);
  CHECK(data.floor < 1);
  const StoryData both(
      {.languages = {Language::english, Language::chinese}, .training = 20, .held_out = 20, .seed = 3});
  CHECK(both.floor > std::log(2.0) * 20 / static_cast<double>(both.held_out->guesses()));
}
