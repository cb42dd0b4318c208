// The stories that come with the program: each has exactly one derivation, and no fact of it can be changed.
#include "learn/story_world.h"

#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "base/format.h"
#include "support/expect_error.h"

using namespace orrery;

namespace {

const WordList& list_named(Language language, const std::string& name) {
  for (const WordList& list : StoryWorld::built_in().grammar(language).lists) {
    if (list.name == name) return list;
  }
  throw std::logic_error(name);
}

bool same_choices(const Story& a, const Story& b) {
  if (a.choices.size() != b.choices.size()) return false;
  for (size_t i = 0; i < a.choices.size(); ++i) {
    if (a.choices[i].name != b.choices[i].name || a.choices[i].picked != b.choices[i].picked) return false;
  }
  return true;
}

// Whether the story says the slot somewhere else in words that `entry` would not have.
bool is_said_elsewhere(const Story& story, size_t index, const WordList& list, int entry) {
  const Mention& changed = story.mentions[index];
  for (size_t i = 0; i < story.mentions.size(); ++i) {
    const Mention& other = story.mentions[i];
    if (i != index && other.slot == changed.slot &&
        said(list, other.entry, other.field, false) != said(list, entry, other.field, false)) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("10,000 stories in each language: the parser finds the one derivation that made them") {
  const StoryWorld& world = StoryWorld::built_in();
  for (const Language language : kLanguages) {
    CAPTURE(name_of(language));
    const std::string last = language == Language::english ? " The end." : "故事讲完了。";
    Random random(1);
    std::set<std::string> texts;
    std::map<std::string, std::set<int>> picked;
    int failures = 0;
    for (int i = 0; i < 10000; ++i) {
      const Story story = world.tell(random, language);
      const Reading reading = world.parse(story.text, language);
      const bool is_right = reading.derivations == 1 && reading.story.text == story.text &&
                            same_choices(reading.story, story) && story.text.ends_with(last) &&
                            std::abs(reading.story.log_probability - story.log_probability) < 1e-9;
      if (!is_right && ++failures < 3) MESSAGE(reading.mistake << " in " << story.text);
      for (const Choice& choice : story.choices) picked[choice.name].insert(choice.picked);
      texts.insert(story.text);
    }
    CHECK(failures == 0);
    CHECK(texts.size() == 10000);  // none was told twice
    for (const Rule& rule : world.grammar(language).rules) {
      CAPTURE(rule.name);
      CHECK(picked["<" + rule.name + ">"].size() == rule.alternatives.size());  // nothing in the file is dead
    }
  }
}

TEST_CASE("log P is the sum over the choices, each of which is a fraction of the grammar") {
  Random random(3);
  const Story story = StoryWorld::built_in().tell(random, Language::english);
  double sum = 0;
  for (const Choice& choice : story.choices) sum += std::log(static_cast<double>(choice.weight) / choice.total);
  CHECK(story.log_probability == doctest::Approx(sum));
  CHECK(story.choices[0].name == "<story>");
  CHECK(story.choices[0].total == 1);
  CHECK(story.choices[1].name == "<opening>");
  for (const Mention& mention : story.mentions) {
    CHECK(story.text.substr(mention.begin, mention.size) ==
          said(list_named(Language::english, mention.list), mention.entry, mention.field, mention.capital));
  }
}

TEST_CASE("a story with one fact changed is no story any more") {
  const StoryWorld& world = StoryWorld::built_in();
  for (const Language language : kLanguages) {
    CAPTURE(name_of(language));
    Random random(2);
    int tried = 0, accepted = 0;
    for (int i = 0; i < 500; ++i) {
      const Story story = world.tell(random, language);
      for (size_t m = 0; m < story.mentions.size(); ++m) {
        const Mention& mention = story.mentions[m];
        const WordList& list = list_named(language, mention.list);
        const int entry = static_cast<int>(random.below(list.entries.size()));
        const std::string other = said(list, entry, mention.field, mention.capital);
        if (other == story.text.substr(mention.begin, mention.size)) continue;
        if (!is_said_elsewhere(story, m, list, entry)) continue;  // a detail that nothing later needs
        std::string text = story.text;
        text.replace(mention.begin, mention.size, other);
        ++tried;
        const Reading reading = world.parse(text, language);
        if (reading.derivations > 0 && ++accepted < 3) MESSAGE("accepted: " << text);
        // The mistake is found at the beginning of a character.
        if (reading.good_bytes < text.size())
          REQUIRE((static_cast<unsigned char>(text[reading.good_bytes]) & 0xC0) != 0x80);
      }
    }
    CHECK(tried > 9000);
    CHECK(accepted == 0);
  }
}

TEST_CASE("stories keep to the length, the vocabulary and the entropy they were made for") {
  struct Range {
    double low, high;
    bool has(double value) const { return low <= value && value <= high; }
  };
  struct Expected {
    Language language;
    Range length, mean_length, vocabulary, nats;
  };
  // English in words, Chinese in characters; "vocabulary" counts words and characters.
  for (const Expected& expected : {Expected{Language::english, {60, 220}, {150, 175}, {800, 1100}, {38, 46}},
                                   Expected{Language::chinese, {100, 370}, {250, 300}, {700, 1000}, {37, 45}}}) {
    CAPTURE(name_of(expected.language));
    Random random(4);
    const StoryStatistics found = StoryWorld::built_in().statistics(random, expected.language, 3000);
    CHECK(expected.length.has(found.shortest));
    CHECK(expected.length.has(found.longest));
    CHECK(expected.mean_length.has(found.mean_length));
    CHECK(expected.vocabulary.has(found.vocabulary));
    CHECK(expected.nats.has(found.mean_nats));
    CHECK(found.nats_error < 0.2);
    CHECK(found.stories == 3000);
  }
}

TEST_CASE("what can come next is known at every place of a story") {
  const StoryWorld& world = StoryWorld::built_in();
  for (const Language language : kLanguages) {
    Random random(5);
    for (int i = 0; i < 20; ++i) {
      const Story story = world.tell(random, language);
      const std::string& text = story.text;
      for (size_t at = 0; at < text.size(); ++at) {
        if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;  // inside a character
        double sum = 0;
        bool has_right_one = false;
        for (const Continuation& way : world.continuations(text.substr(0, at), language)) {
          sum += way.probability;
          has_right_one = has_right_one || text.compare(at, way.text.size(), way.text) == 0;
        }
        REQUIRE(sum == doctest::Approx(1));
        REQUIRE(has_right_one);
      }
    }
  }
}

TEST_CASE("the same seed tells the same story") {
  Random one(7), two(7);
  const StoryWorld& world = StoryWorld::built_in();
  for (int i = 0; i < 10; ++i)
    CHECK(world.tell(one, Language::chinese).text == world.tell(two, Language::chinese).text);
}

TEST_CASE("a story's language is known from its first words") {
  const StoryWorld& world = StoryWorld::built_in();
  CHECK(world.language_of("Once upon a time") == Language::english);
  CHECK(world.language_of("从前有一只小") == Language::chinese);
  for (const Language language : kLanguages) {
    Random random(8);
    for (int i = 0; i < 100; ++i) CHECK(world.language_of(world.tell(random, language).text) == language);
  }
  CHECK_ERROR(world.language_of("It was a dark and stormy night."), "no story of this world", "english after 0 words",
              "chinese after 0 characters");
}
