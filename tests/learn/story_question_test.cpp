// Questions that have one right answer, and the parser as the judge of it.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "learn/story_world.h"
#include "support/expect_error.h"

using namespace orrery;

namespace {

// Whether some story begins with the text.
bool is_beginning(const std::string& text, Language language) {
  const Reading reading = StoryWorld::built_in().parse(text, language);
  return reading.derivations > 0 || reading.good_bytes == text.size();
}

}  // namespace

TEST_CASE("the right answer goes on as a story, every wrong one does not") {
  const StoryWorld& world = StoryWorld::built_in();
  struct Range {
    int low, high;
  };
  for (const Language language : kLanguages) {
    CAPTURE(name_of(language));
    for (const Range& range : {Range{1, 10}, Range{20, 50}, Range{60, 99}, Range{100, 140}}) {
      Random random(1);
      std::set<std::string> slots, prefixes;
      for (int i = 0; i < 50; ++i) {
        const RecallQuestion question = world.question(random, language, range.low, range.high);
        CAPTURE(question.prefix);
        CAPTURE(question.answer);
        CHECK(is_beginning(question.prefix + question.answer, language));
        CHECK(question.wrong.size() >= 3);
        for (const std::string& wrong : question.wrong) {
          CAPTURE(wrong);
          CHECK_FALSE(is_beginning(question.prefix + wrong, language));
        }
        CHECK(question.distance >= range.low);
        CHECK(question.distance <= range.high);
        CHECK_FALSE(question.prefix.ends_with(' '));
        slots.insert(question.slot);
        prefixes.insert(question.prefix);
      }
      CHECK(prefixes.size() == 50);
      CHECK(slots.size() >= 3);  // not always the same kind of fact
    }
  }
}

TEST_CASE("the distance is that from the last place where the fact was told") {
  const StoryWorld& world = StoryWorld::built_in();
  for (const Language language : kLanguages) {
    Random random(2);
    for (int i = 0; i < 100; ++i) {
      const RecallQuestion question = world.question(random, language, 1, 400);
      CAPTURE(question.prefix);
      CAPTURE(question.answer);
      const std::string since = question.prefix.substr(question.fact_end);
      CHECK(question.distance == story_length(since, language));
      const size_t begin = question.answer.find_first_not_of(' ');
      CHECK(since.find(question.answer.substr(begin)) == std::string::npos);
    }
  }
}

TEST_CASE("words that stand there for another reason count as the last place, too") {
  constexpr char kKites[] = R"(language english
list colour
  red, blue, green, pink
rule story
  A [kite=colour] kite flew by. The red sun went down. The kite was {kite}.
)";
  const StoryWorld world(std::vector<GrammarSource>{{kKites, "kites.grammar"}});
  Random random(5);
  for (int i = 0; i < 40; ++i) {
    const RecallQuestion question = world.question(random, Language::english, 1, 100);
    // "sun went down. The kite was", or from "kite flew by." on.
    CHECK(question.distance == (question.answer == " red" ? 6 : 11));
    CHECK(question.wrong.size() == 3);
  }
}

TEST_CASE("another form of the word tells the fact, a pronoun does not") {
  constexpr char kSongs[] = R"(language english
list person (he=she)
  Anna, Bea, Cora, Dora
list task (past, ing)
  sing/sang/singing, dance/danced/dancing, run/ran/running, jump/jumped/jumping
rule story
  [who=person] wanted to [task=task]. So {who.he} {task.past} all day. "I love {task.ing}," said {who}.
)";
  const StoryWorld world(std::vector<GrammarSource>{{kSongs, "songs.grammar"}});
  Random random(6);
  for (int i = 0; i < 40; ++i) {
    const RecallQuestion question = world.question(random, Language::english, 3, 100);
    // From "sang" on: all day. "I love; from "Anna" on: wanted to sing. So she sang all day. "I love singing," said.
    CHECK(question.distance == (question.slot == "task" ? 4 : 12));
  }
}

TEST_CASE("wrong answers that the story names come first") {
  const StoryWorld& world = StoryWorld::built_in();
  Random random(3);
  int named = 0;
  for (int i = 0; i < 100; ++i) {
    const RecallQuestion question = world.question(random, Language::english, 5, 200);
    bool is_named_before = true;
    for (const std::string& wrong : question.wrong) {
      const bool is_named = question.prefix.find(wrong.substr(wrong.find_first_not_of(' '))) != std::string::npos;
      CHECK((is_named_before || !is_named));
      is_named_before = is_named;
      named += is_named;
    }
    CHECK(std::find(question.wrong.begin(), question.wrong.end(), question.answer) == question.wrong.end());
  }
  CHECK(named > 10);
}

TEST_CASE("a distance that no story has is refused") {
  Random random(4);
  CHECK_ERROR(StoryWorld::built_in().question(random, Language::english, 1000, 2000), "no story asks", "1000 to 2000");
}
