// Stories in lines: told in turn, found again, judged.
#include "learn/story_lines.h"

#include <cmath>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const StoryWorld& world() { return StoryWorld::built_in(); }

}  // namespace

TEST_CASE("story lines: languages take turns, and a story depends on the seed and its place alone") {
  StoryLines both(world(), {Language::english, Language::chinese}, 8);
  StoryLines again(world(), {Language::english, Language::chinese}, 8);
  StoryLines other(world(), {Language::english, Language::chinese}, 9);
  StoryLines chinese(world(), {Language::chinese}, 8);
  for (int i = 0; i < 6; ++i) {
    const Story story = both.next();
    CHECK(story.language == (i % 2 == 0 ? Language::english : Language::chinese));
    CHECK(world().log_probability(story.text, story.language) == doctest::Approx(story.log_probability));
    CHECK(again.next().text == story.text);
    CHECK(other.next().text != story.text);
    CHECK(chinese.next().language == Language::chinese);
  }
}

TEST_CASE("story lines: a line is judged in the language that reads most of it") {
  Random random(1);
  for (const Language language : kLanguages) {
    const Story story = world().tell(random, language);
    Judgement judgement = judge_story(world(), story.text);
    CHECK(judgement.is_story);
    CHECK(judgement.language == language);
    CHECK(judgement.reading.story.log_probability == doctest::Approx(story.log_probability));
    // A story that does not end is none; neither is one that goes on.
    judgement = judge_story(world(), story.text.substr(0, story.text.size() - 1));
    CHECK_FALSE(judgement.is_story);
    CHECK(judgement.language == language);
    CHECK(contains(judgement.reading.mistake, "expected"));
    CHECK_FALSE(judge_story(world(), story.text + "\n").is_story);
  }
  CHECK_FALSE(judge_story(world(), "").is_story);
  CHECK_FALSE(judge_story(world(), "\xFF\xFE").is_story);
}

TEST_CASE("story lines: known lines are whole lines, whatever ends them") {
  const TemporaryFolder folder;
  const KnownLines known(write_file(folder / "a.txt", "one\ntwo words\r\n\n三\nlast"));
  for (const char* line : {"one", "two words", "", "三", "last"}) CHECK(known.contains(line));
  for (const char* line : {"on", "one ", "two", "two words\r", "las", "last\n"}) CHECK_FALSE(known.contains(line));
  CHECK_FALSE(KnownLines(write_file(folder / "b.txt", "one\n")).contains(""));
  CHECK_ERROR(KnownLines(folder / "none.txt"), "none.txt");
}
