// Grammars small enough to know everything about them, and grammars with a mistake.
#include "learn/story_grammar.h"

#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "learn/story_world.h"
#include "support/expect_error.h"

using namespace orrery;

namespace {

constexpr char kTiny[] = R"(# two people and a kite
language english
list girl (he=she)
  Anna, Cleo
list boy (he=he)
  Ben
list name = girl + boy
list colour (a=a ~)
  red, orange/an orange
rule story
  <opening> <end>
rule opening
  *2 [hero=name] met [friend=name, not hero].
  [hero=name] had [colour=colour.a] kite. It was very
      {colour}!
rule end
  {hero.He} smiled.
  *3 {hero} slept.
)";

StoryWorld world_of(const std::string& text) { return StoryWorld({{text, "tiny.grammar"}}); }

// All stories of the tiny grammar and their probabilities, put together by hand.
std::map<std::string, double> tiny_stories() {
  const std::map<std::string, std::string> people = {{"Anna", "She"}, {"Cleo", "She"}, {"Ben", "He"}};
  std::map<std::string, double> stories;
  for (const auto& [hero, pronoun] : people) {
    std::map<std::string, double> openings;
    for (const auto& [other, unused] : people) {
      if (other != hero) openings[hero + " met " + other + "."] = 2.0 / 3 * 1 / 3 * 1 / 2;
    }
    openings[hero + " had a red kite. It was very red!"] = 1.0 / 3 * 1 / 3 * 1 / 2;
    openings[hero + " had an orange kite. It was very orange!"] = 1.0 / 3 * 1 / 3 * 1 / 2;
    for (const auto& [opening, probability] : openings) {
      stories[opening + " " + pronoun + " smiled."] = probability / 4;
      stories[opening + " " + hero + " slept."] = probability * 3 / 4;
    }
  }
  return stories;
}

// A grammar with one rule more, to plant a mistake in.
std::string with(const std::string& more, const std::string& story = "  [a=word] is {a}.\n") {
  return "language english\nlist word (plural)\n  cat/cats, dog/dogs\nrule story\n" + story + more;
}

}  // namespace

TEST_CASE("a tiny grammar tells the stories that were put together by hand, as often as it should") {
  const StoryWorld world = world_of(kTiny);
  const auto expected = tiny_stories();
  REQUIRE(expected.size() == 24);
  double sum = 0;
  for (const auto& story : expected) {
    const auto& [text, probability] = story;
    CAPTURE(story.first);
    const Reading reading = world.parse(text, Language::english);
    CHECK(reading.derivations == 1);
    CHECK(reading.story.text == text);
    CHECK(std::exp(reading.story.log_probability) == doctest::Approx(probability));
    CHECK(world.log_probability(text, Language::english) == reading.story.log_probability);
    sum += probability;
  }
  CHECK(sum == doctest::Approx(1));

  constexpr int kStories = 50000;
  std::map<std::string, int> counts;
  Random random(1);
  for (int i = 0; i < kStories; ++i) ++counts[world.tell(random, Language::english).text];
  CHECK(counts.size() == expected.size());
  for (const auto& told : counts) {
    CAPTURE(told.first);
    REQUIRE(expected.count(told.first) == 1);
    const double probability = expected.at(told.first);
    const double deviation = std::sqrt(kStories * probability * (1 - probability));
    CHECK(std::abs(told.second - kStories * probability) < 5 * deviation);
  }
}

TEST_CASE("the mean of -log P comes to the entropy of the tiny grammar") {
  double entropy = 0;
  for (const auto& [text, probability] : tiny_stories()) entropy -= probability * std::log(probability);
  Random random(2);
  const StoryStatistics found = world_of(kTiny).statistics(random, Language::english, 20000);
  CHECK(std::abs(found.mean_nats - entropy) < 5 * found.nats_error);
  CHECK(found.nats_error < 0.01);
  CHECK(found.shortest == 5);  // Anna met Ben. Anna slept.
  CHECK(found.longest == 11);  // Ben had an orange kite. It was very orange! He smiled.
  CHECK(found.vocabulary == 17);
}

TEST_CASE("what is no story of the tiny grammar is refused where it goes wrong") {
  const StoryWorld world = world_of(kTiny);
  const auto mistake = [&](const char* text) {
    const Reading reading = world.parse(text, Language::english);
    CHECK(reading.derivations == 0);
    CHECK(std::isinf(world.log_probability(text, Language::english)));
    return reading.mistake;
  };
  CHECK(mistake("Anna met Anna. Anna slept.") ==
        "after 2 words: expected \"Cleo\" or \"Ben\", found \"Anna. Anna slept.\"");
  CHECK(mistake("Ben met Cleo. She smiled.") == "after 3 words: expected \"He\" or \"Ben\", found \"She smiled.\"");
  CHECK(mistake("Ben had a red kite. It was very orange! He smiled.") ==
        "after 8 words: expected \"red\", found \"orange! He smiled.\"");
  CHECK(mistake("Ben met Anna. Ben slept. Ben slept.") ==
        "after 5 words: expected the end of the text, found \" Ben slept.\"");
  CHECK(mistake("Ben met Anna. Ben") == "after 3 words: expected \"Ben slept.\", found \"Ben\"");
  CHECK(mistake("") == "after 0 words: expected \"Anna\" or \"Cleo\" or \"Ben\", found the end of the text");
}

TEST_CASE("continuations are what can come next, with the probabilities of the grammar") {
  const StoryWorld world = world_of(kTiny);
  const auto next = [&](const char* prefix) {
    std::map<std::string, double> ways;
    for (const Continuation& way : world.continuations(prefix, Language::english)) ways[way.text] = way.probability;
    return ways;
  };
  CHECK(next("").size() == 3);
  CHECK(next("")["Cleo"] == doctest::Approx(1.0 / 3));
  CHECK(next("Ben ") == std::map<std::string, double>{{"met ", 2.0 / 3}, {"had ", 1.0 / 3}});
  CHECK(next("Ben met ")["Anna"] == doctest::Approx(0.5));
  CHECK(next("Ben met Anna. ")["Ben"] == doctest::Approx(0.75));
  CHECK(next("Ben had an orange kite. It was very ") == std::map<std::string, double>{{"orange", 1.0}});
  CHECK(next("Ben met Ben").empty());
  // Several ways may begin with the same words: their probabilities add up.
  const StoryWorld fork = world_of(with("rule x\n  four\n  five\n", "  <x> one\n  <x> two\n  three\n"));
  for (const Continuation& way : fork.continuations("", Language::english)) {
    CHECK(way.probability == doctest::Approx(1.0 / 3));
  }
  CHECK(next("Ben met Anna. Ben slept.").empty());
}

TEST_CASE("an ambiguous grammar is found out: two derivations of one text") {
  const StoryWorld world = world_of(with("rule end\n  .\n  !\n", "  [a=word]<end>\n  cat<end>\n"));
  CHECK(world.parse("cat.", Language::english).derivations == 2);
  CHECK(world.parse("dog!", Language::english).derivations == 1);
}

TEST_CASE("Chinese stories have no spaces, whatever the file has") {
  const StoryWorld world =
      world_of("language chinese\nlist name\n  朵朵, 团团\nrule story\n  从前 有 [a=name]。\n      {a} 睡了。\n");
  Random random(1);
  const Story story = world.tell(random, Language::chinese);
  CHECK((story.text == "从前有朵朵。朵朵睡了。" || story.text == "从前有团团。团团睡了。"));
  CHECK(world.parse("从前有朵朵。团团睡了。", Language::chinese).mistake ==
        "after 6 characters: expected \"朵朵\", found \"团团睡了。\"");
  CHECK_ERROR(world.tell(random, Language::english), "does not speak english", "language english");
}

TEST_CASE("a mistake in a grammar is one line that says where and what") {
  const auto read = [](const std::string& text) { return read_story_grammar(text, "g"); };
  CHECK_ERROR(read(""), "g:1:", "begins with its language", "language english", "nothing");
  CHECK_ERROR(read("list a\n  b\n"), "g:1:", "begins with its language", "found list a");
  CHECK_ERROR(read("  b\n"), "g:1:", "belongs to no section");
  CHECK_ERROR(read("language english\nwords a\n"), "g:2:", "language, list or rule", "found words");
  CHECK_ERROR(read("language english\nlanguage chinese\n"), "g:2:", "one language");
  CHECK_ERROR(read("language english\nlist a\n  \xFF\n"), "g:3:", "not UTF-8");
  CHECK_ERROR(read("language english\nlist a\n  b, c\n"), "needs a rule named story");
  // Lists.
  CHECK_ERROR(read(with("list Big\n  a\n")), "g:6:", "no name", "found Big");
  CHECK_ERROR(read(with("list word\n  a\n")), "g:6:", "twice", "word");
  CHECK_ERROR(read(with("list x\n  oak, apple\n    tree\n")), "g:8:", "indented alike", "expected 2 spaces, found 4");
  CHECK_ERROR(read(with("list empty\n")), "g:6:", "empty");
  CHECK_ERROR(read(with("list x (a b)\n  c\n")), "g:6:", "no name", "found a b");
  CHECK_ERROR(read(with("list x he\n  c\n")), "g:6:", "(fields) or = lists", "found he");
  CHECK_ERROR(read(with("list x (he)\n  Anna\n")), "g:7:", "\"Anna\" says nothing for the field he");
  CHECK_ERROR(read(with("list x\n  Anna/she\n")), "g:7:", "more fields", "expected 1, found 2");
  CHECK_ERROR(read(with("list x = nobody\n")), "g:6:", "no list above", "nobody");
  CHECK_ERROR(read(with("list x\n  a\nlist y = word + x\n")), "g:8:", "different fields", "found x");
  CHECK_ERROR(read(with("list x\n  oak, elm, oak\n")), "g:6:", "entry twice", "oak");
  CHECK_ERROR(read(with("list x\n  oak tree, oak\n")), "g:6:", "begins with another", "\"oak\" and \"oak tree\"");
  // Rules.
  CHECK_ERROR(read(with("rule x\n")), "g:6:", "the rule x is empty");
  CHECK_ERROR(read(with("rule x\n  *0 a\n")), "g:7:", "weight", "1 to 1000", "found *0");
  CHECK_ERROR(read(with("rule x\n  *2x a\n")), "g:7:", "weight", "found *2x");
  CHECK_ERROR(read(with("rule x\n  *2\n")), "g:7:", "says nothing");
  CHECK_ERROR(read(with("rule x\n  a\n  b\n  a\n", "  <x>\n")), "g:9:", "same twice", "line 7", "*2");
  CHECK_ERROR(read(with("rule x\n  a\n")), "g:6:", "no story uses the rule x");
  CHECK_ERROR(read(with("rule x\n  a <y>\nrule y\n  b <x>\n", "  <x>\n")), "back to itself", "story > x > y > x");
  // Brackets.
  CHECK_ERROR(read(with("", "  a {b.\n")), "g:5:", "brackets do not match", "{b.");
  CHECK_ERROR(read(with("", "  a} b\n")), "g:5:", "brackets do not match", "} b");
  CHECK_ERROR(read(with("", "  <nothing>\n")), "g:5:", "no rule", "<nothing>");
  CHECK_ERROR(read(with("", "  [a]\n")), "g:5:", "names no list", "[slot=list]");
  CHECK_ERROR(read(with("", "  [a=nothing]\n")), "g:5:", "no list", "nothing");
  CHECK_ERROR(read(with("", "  [a=word, but b]\n")), "g:5:", "not and a slot", "but b");
  CHECK_ERROR(read(with("", "  {}\n")), "g:5:", "no name of a slot");
  CHECK_ERROR(read(with("", "  [a=word.colour]\n")), "g:5:", "list word", "expected plural, found colour");
  CHECK_ERROR(read(with("", "  [a=word] {a.colour}\n")), "g:5:", "list word", "expected plural, found colour");
}

TEST_CASE("slots are chosen once, before they are said") {
  const auto read = [](const std::string& text) { return read_story_grammar(text, "g"); };
  CHECK_ERROR(read(with("", "  {a} [a=word]\n")), "g:5:", "the slot a", "it on none");
  CHECK_ERROR(read(with("", "  [a=word, not b] [b=word]\n")), "g:5:", "the slot b");
  CHECK_ERROR(read(with("", "  [a=word] [a=word]\n")), "g:5:", "chosen before", "{a}");
  CHECK_ERROR(read(with("rule x\n  [a=word]\n  nothing\n", "  <x> {a}\n")), "g:5:", "it only on some");
  CHECK_ERROR(read(with("rule x\n  [a=word]\n  nothing\n", "  <x> [a=word]\n")), "g:5:", "chosen before");
  CHECK_ERROR(read(with("", "  [a=word] [b=word, not a] [c=word, not a, not b]\n")), "too few", "at least 3");
  // The same rule may be used where the slot is known and where it is not, as long as it does not say it.
  CHECK_NOTHROW(read(with("rule x\n  [a=word]\nrule y\n  hm\n", "  <y> <x> {a}\n  <x> <y> {A}\n")));
}

TEST_CASE("a world has one grammar per language") {
  CHECK_ERROR(StoryWorld({{kTiny, "one"}, {kTiny, "two"}}), "two:", "second grammar for english");
}
