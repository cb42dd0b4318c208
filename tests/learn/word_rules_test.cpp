#include "learn/word_rules.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

TEST_CASE("learn: the first rule that fits the word before says what may come") {
  // (start), (other), An, owl, ran, ., A, fox, an
  const WordPairs text({"An owl ran. A fox an"}, {"A fox", "an fox", "owl ran"}, 1);
  REQUIRE(text.vocabulary.size() == 9);
  const char* const rules[] = {"[Aa]n -> [aeiou].*", "[Aa].* -> [a-z]+"};
  const WordRules made(rules, text.vocabulary, 0.9);
  // "an" allows owl and an; "A" all of owl, ran, fox, an.
  CHECK(made.p(text.held_out[1]) == doctest::Approx(0.9 / 4));
  CHECK(made.p(text.held_out[3]) == doctest::Approx(0.1 / 7));
  CHECK(made.p(text.held_out[5]) == doctest::Approx(1.0 / 9));
  const WordRules::Coverage coverage = made.coverage(text.held_out);
  CHECK(coverage.applies == doctest::Approx(2.0 / 6));
  CHECK(coverage.right == doctest::Approx(0.5));
  for (const WordPair& pair : text.held_out) {
    double sum = 0;
    for (int next = 0; next < 9; ++next) sum += made.p({pair.before, next});
    CHECK(sum == doctest::Approx(1));
  }
}

TEST_CASE("learn: patterns fit whole words, and what is no rule is refused") {
  const std::vector<std::string> words = {"a", "an", "banana"};
  CHECK(fitting(words, "an?") == std::vector{true, true, false});
  CHECK_THROWS_AS(fitting(words, "(a"), Error);
  const auto make = [&](const char* rule, double trust) { return WordRules({&rule, 1}, words, trust); };
  CHECK_NOTHROW(make("a -> an", 0.5));
  CHECK_THROWS_AS(make("a -> an", 1), Error);
  CHECK_THROWS_AS(make("a -> an", 0), Error);
  CHECK_THROWS_AS(make("a -> zebra", 0.5), Error);
  CHECK_THROWS_AS(make("a -> .*", 0.5), Error);
  CHECK_THROWS_AS(make("a an", 0.5), Error);
}
