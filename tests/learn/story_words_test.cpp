#include "learn/story_words.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "learn/story_lines.h"

using namespace orrery;

TEST_CASE("learn: stories as words, and the lowest perplexity on those held out") {
  const StoryWords made = story_words({.training = 3, .held_out = 2, .n_before = 2, .seed = 6});
  StoryLines lines(StoryWorld::built_in(), {Language::english}, 6);
  std::vector<std::string> words[2];
  double nats = 0;
  size_t bytes = 0;
  for (int n = 0; n < 5; ++n) {
    const Story story = lines.next();
    for (std::string& word : words_of(story.text)) words[n / 3].push_back(std::move(word));
    if (n < 3) bytes += story.text.size();
    if (n >= 3) nats -= StoryWorld::built_in().log_probability(story.text, Language::english);
  }
  REQUIRE(made.pairs.training.size() == words[0].size());
  REQUIRE(made.pairs.held_out.size() == words[1].size());
  for (size_t i = 0; i < words[0].size(); ++i) {
    CHECK(made.pairs.vocabulary[static_cast<size_t>(made.pairs.training[i].next)] == words[0][i]);
  }
  CHECK(made.training_bytes == bytes);
  CHECK(made.lowest_perplexity == doctest::Approx(std::exp(nats / static_cast<double>(words[1].size()))));
  CHECK(made.lowest_perplexity > 1);
}

TEST_CASE("learn: words of the vocabulary that the lists of the world have") {
  const WordPairs pairs({"A red fox met an owl near the pumpkin pie."}, {"blue"}, 1);
  const WordKinds found = word_kinds(pairs, Language::english, {"colour", "animal", "food"});
  std::vector<std::string> words;
  for (const int id : found.ids) words.push_back(pairs.vocabulary[static_cast<size_t>(id)]);
  CHECK(words == std::vector<std::string>{"red", "fox", "owl"});
  CHECK(found.kinds == std::vector{0, 1, 1});
  CHECK_THROWS_AS(word_kinds(pairs, Language::english, {"nonsense"}), Error);
}
