#include "learn/word_pairs.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "learn/story_world.h"

using namespace orrery;

namespace {

using Words = std::vector<std::string>;

Words named(const WordPairs& pairs, std::span<const int> ids) {
  Words words;
  for (const int id : ids) words.push_back(pairs.vocabulary[static_cast<size_t>(id)]);
  return words;
}

}  // namespace

TEST_CASE("learn: a text is cut into words and marks") {
  CHECK(words_of("\"It's late.\" So,  off-hand: no") ==
        Words{"\"", "It", "'s", "late", ".", "\"", "So", ",", "off-hand", ":", "no"});
  CHECK(words_of("a1é了") == Words{"a", "1", "é", "了"});
  CHECK(words_of("' ''") == Words{"'", "'", "'"});
  CHECK(words_of("") == Words{});
}

TEST_CASE("learn: every word is the answer to those before it") {
  WordPairs made({"a cat sat.", "cat"}, {"a dog sat"}, 2);
  const WordPairs pairs = std::move(made);  // the pairs still look at their texts
  CHECK(pairs.vocabulary == Words{"(start)", "(other)", "a", "cat", "sat", "."});
  const std::vector<std::pair<Words, std::string>> training = {{{"(start)", "(start)"}, "a"},
                                                               {{"(start)", "a"}, "cat"},
                                                               {{"a", "cat"}, "sat"},
                                                               {{"cat", "sat"}, "."},
                                                               {{"(start)", "(start)"}, "cat"}};
  REQUIRE(pairs.training.size() == training.size());
  for (size_t i = 0; i < training.size(); ++i) {
    CHECK(named(pairs, pairs.training[i].before) == training[i].first);
    CHECK(pairs.vocabulary[static_cast<size_t>(pairs.training[i].next)] == training[i].second);
  }
  REQUIRE(pairs.held_out.size() == 3);
  CHECK(pairs.held_out[1].next == WordPairs::kOther);
  CHECK(named(pairs, pairs.held_out[2].before) == Words{"a", "(other)"});
  CHECK(pairs.id("sat") == 4);
  CHECK(pairs.id("dog") == WordPairs::kOther);
  CHECK(pairs.id("(start)") == WordPairs::kOther);  // no text can say it
}

TEST_CASE("learn: perplexity is one over the geometric mean of p") {
  const WordPairs pairs({"a b c"}, {}, 1);
  const double p[] = {0.5, 0.25, 0.125};
  CHECK(perplexity(pairs.training, [&](const WordPair& pair) { return p[pair.next - 2]; }) == doctest::Approx(4));
}

TEST_CASE("learn: no two stories become the same words") {
  Random random(3);
  for (int n = 0; n < 50; ++n) {
    const std::string text = StoryWorld::built_in().tell(random, Language::english).text;
    std::string again;
    bool is_quoted = false, touches = true;
    for (const std::string& word : words_of(text)) {
      const bool is_quote = word == "\"", is_mark = std::string_view(".,!?:;'").find(word[0]) != std::string_view::npos;
      if (!touches && !is_mark && !(is_quote && is_quoted)) again += ' ';
      again += word;
      if (is_quote) is_quoted = !is_quoted;
      touches = is_quote && is_quoted;
    }
    CHECK(again == text);
  }
}
