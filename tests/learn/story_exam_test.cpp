// The exam, taken by models whose every probability is known.
#include "learn/story_exam.h"

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "learn/story_exam_support.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Language kEnglish = Language::english, kChinese = Language::chinese;

}  // namespace

TEST_CASE("exam: the loss stands beside the world's own log P, with the language and the end") {
  Bytes bytes;
  const int vocab_size = bytes.vocab_size();
  FakeModel even(vocab_size, 2000, [&](auto) { return std::vector<double>(static_cast<size_t>(vocab_size)); });
  Exam exam(even, *bytes.tokenizer);
  const LossResult result = exam.exam.loss(5, 7);
  REQUIRE(result.stories.size() == 5);
  CHECK(result.too_long == 0);
  Random random(7);
  for (size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    const ScoredStory& scored = result.stories[i];
    const Language language = i % 2 == 0 ? kEnglish : kChinese;
    const Story story = StoryWorld::built_in().tell(random, language);
    CHECK(scored.language == language);
    CHECK(scored.tokens == static_cast<int>(story.text.size()) + 1);
    CHECK(scored.floor_nats ==
          doctest::Approx(std::log(2) - StoryWorld::built_in().log_probability(story.text, language)));
    CHECK(scored.model_nats == doctest::Approx(scored.tokens * std::log(vocab_size)));
  }
}

TEST_CASE("exam: a model that knows the world reaches the floor, and none of its stories lies below") {
  Bytes bytes;
  FakeModel model(bytes.vocab_size(), 2000, world_guess(bytes));
  Exam exam(model, *bytes.tokenizer);
  const LossResult result = exam.exam.loss(6, 3);
  REQUIRE(result.stories.size() == 6);
  for (const ScoredStory& story : result.stories) {
    CAPTURE(name_of(story.language));
    CHECK(std::abs(story.model_nats - story.floor_nats) < 1e-6);
  }
}

TEST_CASE("exam: the model's loss is that of a pass by hand over the whole text, and its end") {
  Words words;
  ModelConfig config = small_config(0);
  config.vocab_size = words.vocab_size();
  Transformer model(random_model(config, DType::F32));
  Exam exam(model, *words.tokenizer);
  const LossResult result = exam.exam.loss(4, 11);
  REQUIRE(result.stories.size() == 4);
  StoryLines lines(StoryWorld::built_in(), {kEnglish, kChinese}, 11);
  ReferenceKernels<double> kernels{Threads(1)};
  for (const ScoredStory& scored : result.stories) {
    std::vector<TokenId> ids = words.tokenizer->encode(lines.next().text, {.bos = false});
    ids.insert(ids.begin(), 0);
    ids.push_back(0);
    const auto logits = uncached_logits(model, kernels, ids);
    double nats = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto row = std::span(logits).subspan(i * size_t(config.vocab_size), size_t(config.vocab_size));
      double total = 0;
      for (const double logit : row) total += std::exp(logit);
      nats += std::log(total) - row[static_cast<size_t>(ids[i + 1])];
    }
    CHECK(scored.model_nats == doctest::Approx(nats).epsilon(1e-9));
    CHECK(scored.tokens == static_cast<int>(ids.size()) - 1);
  }
}

TEST_CASE("exam: stories that do not fit the context are counted, not dropped in silence") {
  Bytes bytes;
  std::vector<int> sizes;
  StoryLines lines(StoryWorld::built_in(), {kEnglish, kChinese}, 1);
  for (int i = 0; i < 10; ++i) sizes.push_back(static_cast<int>(lines.next().text.size()));
  std::vector<int> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  // The fifth just fits: its tokens, one marker, and the last is only guessed.
  FakeModel model(bytes.vocab_size(), sorted[4] + 1, [&](auto) { return std::vector<double>(bytes.vocab_size()); });
  Exam exam(model, *bytes.tokenizer);
  const LossResult result = exam.exam.loss(10, 1);
  CHECK(result.stories.size() == 5);
  CHECK(result.too_long == 5);
  const LossResult part = exam.exam.loss(10, 1, [](int64_t done, int64_t all) {
    CHECK(all == 10);
    CHECK(done < 10);
    return false;
  });
  CHECK(part.stories.size() < 5);
  for (const ScoredStory& story : part.stories) CHECK(story.model_nats > 0);
}

TEST_CASE("exam: nats per token are quotients of sums, and so is their error") {
  const std::vector<ScoredStory> stories = {{kEnglish, 100, 60, 50}, {kChinese, 50, 50, 20}, {kEnglish, 200, 110, 90}};
  const LossSummary all = summarize(stories);
  CHECK(all.stories == 3);
  CHECK(all.tokens == 350);
  CHECK(all.model == doctest::Approx(220.0 / 350));
  CHECK(all.floor == doctest::Approx(160.0 / 350));
  CHECK(all.excess == doctest::Approx(60.0 / 350));
  CHECK(all.excess_per_story == doctest::Approx(20));
  // What each has more than 60/350 of its tokens: -50/7, 150/7, -100/7.
  CHECK(all.excess_error == doctest::Approx(std::sqrt((2500.0 + 22500 + 10000) / 49 * 3 / 2) / 350));
  const LossSummary english = summarize(stories, kEnglish);
  CHECK(english.stories == 2);
  CHECK(english.model == doctest::Approx(170.0 / 300));
  const LossSummary chinese = summarize(stories, kChinese);
  CHECK(chinese.excess == doctest::Approx(0.6));
  CHECK(chinese.excess_error == 0);
  CHECK(summarize({}, kChinese).stories == 0);
}

TEST_CASE("exam: a model that tells known stories passes; what it repeats from the training text is found") {
  Words words;
  const auto known = words.stories(3, 5);  // English, Chinese, English
  FakeModel model(words.vocab_size(), 1000, recite(words.vocab_size(), words.texts(known)));
  Exam exam(model, *words.tokenizer);
  const TemporaryFolder folder;
  const KnownLines training(write_file(folder / "training.txt", "something else\n" + known[1] + "\r\n" + known[2]));
  const auto told = exam.exam.tell({.stories = 40, .seed = 3, .training = &training});
  REQUIRE(told.size() == 40);
  std::set<std::string> texts;
  for (const ToldStory& story : told) {
    CHECK(story.is_finished);
    CHECK(story.is_story);
    CHECK(story.mistake.empty());
    CHECK(story.is_known == (story.text != known[0]));
    CHECK(story.language == (story.text == known[1] ? kChinese : kEnglish));
    CHECK(story.tokens == static_cast<int>(words.tokenizer->encode(story.text, {.bos = false}).size()));
    CHECK(story.length == story_length(story.text, story.language));
    texts.insert(story.text);
  }
  CHECK(texts == std::set<std::string>(known.begin(), known.end()));
  for (const ToldStory& story : exam.exam.tell({.stories = 4, .seed = 3})) CHECK_FALSE(story.is_known);
}

TEST_CASE("exam: gibberish and stories with a mistake are refused in plain words") {
  Words words;
  std::string wrong = words.stories(1, 5)[0];
  wrong.replace(wrong.rfind("The end."), 8, "The start.");
  for (const auto& [text, mistake] : {std::pair<std::string, std::string>("Rosie mended the scarf", "after 0 words"),
                                      {wrong, "expected \"end.\", found \"start.\""},
                                      {"", "found the end of the text"}}) {
    FakeModel model(words.vocab_size(), 1000, recite(words.vocab_size(), words.texts({text})));
    Exam exam(model, *words.tokenizer);
    const auto told = exam.exam.tell({.stories = 2, .seed = 1});
    REQUIRE(told.size() == 2);
    CHECK(told[1].text == text);
    CHECK(told[1].is_finished);
    CHECK_FALSE(told[1].is_story);
    CAPTURE(told[1].mistake);
    CHECK(contains(told[1].mistake, mistake));
  }
}

TEST_CASE("exam: a story without an end is none: the limit of tokens, and that of the context") {
  Words words;
  const auto known = words.stories(1, 5);
  auto tokens = words.texts(known)[0];
  const int n = static_cast<int>(tokens.size()) - 1;  // without the end token
  tokens.back() = tokens[0];                          // it goes on
  struct Case {
    int context, limit, told;
  };
  for (const Case& c : {Case{1000, n, n}, Case{1000, n - 9, n - 9}, Case{n - 20, 1000, n - 20}}) {
    FakeModel model(words.vocab_size(), c.context, recite(words.vocab_size(), {tokens}));
    Exam exam(model, *words.tokenizer);
    const auto told = exam.exam.tell({.stories = 1, .seed = 1, .max_tokens = c.limit});
    REQUIRE(told.size() == 1);
    CHECK(told[0].tokens == c.told);
    CHECK_FALSE(told[0].is_finished);
    CHECK_FALSE(told[0].is_story);
    CHECK_FALSE(told[0].mistake.empty());
    CAPTURE(told[0].mistake);
    CHECK(contains(told[0].mistake, "no end token within " + std::to_string(c.told) + " tokens, though no mistake"));
  }
}

TEST_CASE("exam: of a text without an end the mistake is told, too") {
  Words words;
  auto tokens = words.tokenizer->encode("Once upon a time Rosie flew away.", {.bos = false});
  FakeModel model(words.vocab_size(), 1000, recite(words.vocab_size(), {tokens}));
  Exam exam(model, *words.tokenizer);
  const auto told = exam.exam.tell({.stories = 1, .seed = 1, .max_tokens = static_cast<int>(tokens.size())});
  CHECK(contains(told[0].mistake, "; after 4 words: expected"));
}

TEST_CASE("exam: what is told depends on the seed, not on how many are told together") {
  Words words;
  ModelConfig config = small_config(0);
  config.vocab_size = words.vocab_size();
  Transformer model(random_model(config, DType::F32));
  Exam exam(model, *words.tokenizer);
  const auto texts = [&](int stories, uint64_t seed, int together, SamplerSettings sampler) {
    std::vector<std::string> all;
    const TellPlan plan{.stories = stories, .seed = seed, .sampler = sampler, .max_tokens = 12, .together = together};
    for (const ToldStory& story : exam.exam.tell(plan)) all.push_back(story.text);
    return all;
  };
  const SamplerSettings plain = TellPlan{}.sampler;
  const auto alone = texts(7, 1, 1, plain);
  CHECK(std::set<std::string>(alone.begin(), alone.end()).size() == 7);
  CHECK(texts(7, 1, 3, plain) == alone);
  CHECK(texts(7, 1, 32, plain) == alone);
  const auto fewer = texts(4, 1, 32, plain);
  CHECK(std::vector<std::string>(alone.begin(), alone.begin() + 4) == fewer);
  CHECK(texts(7, 2, 32, plain) != alone);
  SamplerSettings greedy = plain;
  greedy.temperature = 0;
  const auto same = texts(3, 1, 32, greedy);
  CHECK(same[0] == same[2]);
  CHECK(plain.temperature == 1);
  CHECK(plain.top_k == 0);
  CHECK(plain.top_p == 1);
  CHECK(plain.min_p == 0);
}

TEST_CASE("exam: stories are told together, as many as asked, and telling can be stopped") {
  Words words;
  const auto known = words.stories(3, 5);
  FakeModel model(words.vocab_size(), 1000, recite(words.vocab_size(), words.texts(known)));
  Exam exam(model, *words.tokenizer);
  const auto four = exam.exam.tell({.stories = 10, .seed = 1, .together = 4});
  CHECK(*std::max_element(model.calls.begin(), model.calls.end()) == 4);
  CHECK(model.calls[100] == 4);
  // Shorter ones end earlier, and keep their place.
  REQUIRE(four.size() == 10);
  const auto one = exam.exam.tell({.stories = 10, .seed = 1, .together = 1});
  for (size_t i = 0; i < 10; ++i) CHECK(four[i].text == one[i].text);
  const auto told = exam.exam.tell({.stories = 10, .seed = 1, .together = 4}, [](int64_t done, int64_t all) {
    CHECK(all == 10);
    return done < 2;
  });
  CHECK(told.size() >= 2);
  CHECK(told.size() < 10);
  for (const ToldStory& story : told) CHECK(story.is_story);
}
