// The exam's questions, answered by models whose every probability is known.
#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "learn/story_exam_support.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// What the plan asks, in the order in which it asks.
std::vector<RecallQuestion> questions_of(const RecallPlan& plan) {
  std::vector<RecallQuestion> all;
  Random random(plan.seed);
  for (const DistanceRange& range : plan.ranges) {
    for (const Language language : kLanguages) {
      const int count = language == Language::english ? (plan.questions + 1) / 2 : plan.questions / 2;
      for (auto& question : balanced_questions(StoryWorld::built_in(), random, language, range, count))
        all.push_back(std::move(question));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("recall: a model that knows the world is always right, one that takes it for the opposite never") {
  Bytes bytes;
  const Guess world = world_guess(bytes);
  const RecallPlan plan{.ranges = {{1, 40}, {120, 300}}, .questions = 9, .seed = 5};
  FakeModel knowing(bytes.vocab_size(), 2000, world);
  const RecallResult right = Exam(knowing, *bytes.tokenizer).exam.recall(plan);
  REQUIRE(right.answers.size() == 18);
  CHECK(right.too_long == 0);
  for (const RecallAnswer& answer : right.answers) {
    CAPTURE(answer.slot);
    CHECK(answer.is_right);
  }
  FakeModel contrary(bytes.vocab_size(), 2000, [&](std::span<const TokenId> before) {
    auto logits = world(before);
    for (double& logit : logits) logit = -logit;
    return logits;
  });
  for (const RecallAnswer& answer : Exam(contrary, *bytes.tokenizer).exam.recall(plan).answers) CHECK(!answer.is_right);
  // One that finds all tokens alike likes short answers: it is right where no wrong one is as short.
  FakeModel even(bytes.vocab_size(), 2000,
                 [&](auto) { return std::vector<double>(static_cast<size_t>(bytes.vocab_size())); });
  const RecallResult by_length = Exam(even, *bytes.tokenizer).exam.recall(plan);
  const auto questions = questions_of(plan);
  REQUIRE(by_length.answers.size() == questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    bool is_shortest = true;
    for (const std::string& wrong : questions[i].wrong) {
      is_shortest = is_shortest && wrong.size() > questions[i].answer.size();
    }
    CHECK(by_length.answers[i].is_right == is_shortest);
  }
}

TEST_CASE("recall: answers carry their question's kind, range and distances") {
  Bytes bytes;
  FakeModel model(bytes.vocab_size(), 2000,
                  [&](auto) { return std::vector<double>(static_cast<size_t>(bytes.vocab_size())); });
  const RecallPlan plan{.ranges = {{1, 25}, {101, 150}}, .questions = 21, .seed = 2};
  const RecallResult result = Exam(model, *bytes.tokenizer).exam.recall(plan);
  const auto questions = questions_of(plan);
  REQUIRE(result.answers.size() == 42);
  RecallTally tally;
  double by_chance = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const RecallAnswer& answer = result.answers[i];
    const RecallQuestion& question = questions[i];
    CHECK(answer.language == question.language);
    CHECK(answer.slot == question.slot);
    CHECK(answer.range == i / 21);
    CHECK(answer.distance == question.distance);
    CHECK(answer.token_distance == static_cast<int>(question.prefix.size() - question.fact_end));
    CHECK(answer.choices == static_cast<int>(question.wrong.size()) + 1);
    tally.add(answer);
    by_chance += 1.0 / (static_cast<double>(question.wrong.size()) + 1);
  }
  CHECK(tally.asked == 42);
  CHECK(tally.by_chance == doctest::Approx(by_chance));
  CHECK(RecallTally{}.share() == 0);
  CHECK(RecallTally{3, 4}.share() == 0.75);
  const auto kinds = [](const RecallAnswer& answer) { return answer.language == Language::english; };
  CHECK(std::count_if(result.answers.begin(), result.answers.end(), kinds) == 22);
}

TEST_CASE("recall: the distance in tokens counts those that begin behind the fact") {
  Words words;
  FakeModel model(words.vocab_size(), 2000,
                  [&](auto) { return std::vector<double>(static_cast<size_t>(words.vocab_size())); });
  const RecallPlan plan{.ranges = {{30, 300}}, .questions = 30, .seed = 4};
  const RecallResult result = Exam(model, *words.tokenizer).exam.recall(plan);
  const auto questions = questions_of(plan);
  REQUIRE(result.answers.size() == questions.size());
  bool is_cut_inside = false;
  for (size_t i = 0; i < questions.size(); ++i) {
    // From the end: as many tokens as lie in the text behind the fact.
    const auto tokens = words.tokenizer->encode(questions[i].prefix, {.bos = false});
    int count = 0;
    size_t left = questions[i].prefix.size() - questions[i].fact_end;
    for (auto token = tokens.rbegin(); token != tokens.rend(); ++token, ++count) {
      const size_t size = words.tokenizer->piece_bytes(*token).size();
      if (size > left) {
        is_cut_inside = is_cut_inside || left > 0;
        break;
      }
      left -= size;
    }
    CHECK(result.answers[i].token_distance == count);
  }
  CHECK(is_cut_inside);  // a token that tells the end of the fact and what follows it
}

TEST_CASE("recall: kinds of facts are asked as evenly as the world has them") {
  Random random(1);
  const auto questions = balanced_questions(StoryWorld::built_in(), random, Language::english, {1, 50}, 60);
  REQUIRE(questions.size() == 60);
  std::map<std::string, int> slots;
  std::set<std::string> prefixes;
  for (const RecallQuestion& question : questions) {
    ++slots[question.slot];
    prefixes.insert(question.prefix);
    CHECK(question.distance <= 50);
  }
  CHECK(prefixes.size() == 60);
  CHECK(slots.size() >= 15);
  for (const auto& [slot, count] : slots) {
    CAPTURE(slot);
    CHECK(count <= 4);  // drawn as they come, "hero" would be a fourth of them
  }
  CHECK_ERROR(balanced_questions(StoryWorld::built_in(), random, Language::english, {2000, 3000}, 1), "no story asks");
}

TEST_CASE("recall: scores are what the tokens behind the common ones say, and any that goes on with the last") {
  Words words(2000);  // many Chinese tokens join the end of the prefix and the answer
  ModelConfig config = small_config(0);
  config.vocab_size = words.vocab_size();
  Transformer model(random_model(config, DType::F32), {0, DType::F64, DType::F64});
  Exam exam(model, *words.tokenizer);
  bool has_moved = false, reaches_beyond = false;
  Random random(9);
  for (int n = 0; n < 40; ++n) {
    const Language language = n % 4 == 0 ? Language::english : Language::chinese;
    const RecallQuestion question = StoryWorld::built_in().question(random, language, 1, 60);
    std::vector<std::string> answers = {question.answer, question.wrong[0], question.wrong[1], question.wrong[2]};
    std::vector<std::vector<TokenId>> texts;
    for (const std::string& answer : answers) {
      texts.push_back(words.tokenizer->encode(question.prefix + answer, {.bos = false}));
      texts.back().insert(texts.back().begin(), 0);
    }
    size_t common = 0;
    const auto all_have = [&](size_t i) {
      for (const auto& text : texts) {
        if (i + 1 >= text.size() || text[i] != texts[0][i]) return false;
      }
      return true;
    };
    while (all_have(common)) ++common;
    const bool moves = common < words.tokenizer->encode(question.prefix, {.bos = false}).size() + 1;
    if (n >= 6 && !moves) continue;  // the rare ones are what is looked for
    has_moved = has_moved || moves;
    const auto scores = exam.exam.score_answers(question.prefix, answers);
    REQUIRE(scores.size() == 4);
    for (size_t a = 0; a < texts.size(); ++a) {
      const auto logits = uncached_logits(model, exam.kernels, texts[a]);
      double expected = 0;
      for (size_t i = common; i < texts[a].size(); ++i) {
        const auto row = std::span(logits).subspan((i - 1) * size_t(config.vocab_size), size_t(config.vocab_size));
        double total = 0, part = 0;
        const std::string bytes = words.tokenizer->piece_bytes(texts[a][i]);
        for (TokenId id = 0; id < config.vocab_size; ++id) {
          const double p = std::exp(row[static_cast<size_t>(id)]);
          const bool is_last = i + 1 == texts[a].size();
          const bool goes_on = is_last && words.tokenizer->piece_bytes(id).starts_with(bytes);
          reaches_beyond = reaches_beyond || (goes_on && id != texts[a][i]);
          total += p;
          if (id == texts[a][i] || goes_on) part += p;
        }
        expected += std::log(part / total);
      }
      CHECK(std::abs(scores[a] - expected) < 1e-9);
    }
  }
  CHECK(has_moved);
  CHECK(reaches_beyond);
}

TEST_CASE("recall: a model that knows the answer only as a part of a longer token is right") {
  Words words(2000);
  // A word that is a token, and a longer token that begins with it.
  std::string answer;
  TokenId longer = kNoToken;
  for (const WordList& list : StoryWorld::built_in().grammar(Language::chinese).lists) {
    for (const auto& entry : list.entries) {
      if (words.tokenizer->encode(entry[0], {.bos = false}).size() != 1) continue;
      for (TokenId id = 0; id < words.vocab_size(); ++id) {
        const std::string bytes = words.tokenizer->piece_bytes(id);
        if (bytes.size() > entry[0].size() && bytes.starts_with(entry[0])) {
          longer = id;
          answer = entry[0];
        }
      }
    }
  }
  REQUIRE(longer != kNoToken);
  const std::string prefix = "Once: ", wrong = "猫猫";
  FakeModel model(words.vocab_size(), 1000, [&](auto) {
    std::vector<double> logits(static_cast<size_t>(words.vocab_size()));
    logits[static_cast<size_t>(longer)] = 10;
    return logits;
  });
  Exam exam(model, *words.tokenizer);
  const auto scores = exam.exam.score_answers(prefix, {answer, wrong});
  REQUIRE(scores.size() == 2);
  CHECK(scores[0] > -0.1);
  CHECK(scores[1] < -5);
}

TEST_CASE("recall: questions that do not fit the context are counted") {
  Bytes bytes;
  const RecallPlan plan{.ranges = {{1, 60}}, .questions = 20, .seed = 3};
  const auto questions = questions_of(plan);
  constexpr int kContext = 400;
  int fitting = 0;
  for (const RecallQuestion& question : questions) {
    size_t longest = question.answer.size();
    for (const std::string& wrong : question.wrong) longest = std::max(longest, wrong.size());
    fitting += question.prefix.size() + longest <= kContext;
  }
  REQUIRE(fitting > 0);
  REQUIRE(fitting < 20);
  FakeModel model(bytes.vocab_size(), kContext,
                  [&](auto) { return std::vector<double>(static_cast<size_t>(bytes.vocab_size())); });
  Exam exam(model, *bytes.tokenizer);
  const RecallResult result = exam.exam.recall(plan);
  CHECK(static_cast<int>(result.answers.size()) == fitting);
  CHECK(result.too_long == 20 - fitting);
  int64_t last = 0;
  const RecallResult part = exam.exam.recall(plan, [&](int64_t done, int64_t all) {
    CHECK(all == 20);
    last = done;
    return done < 7;
  });
  CHECK(last == 7);
  CHECK(static_cast<int>(part.answers.size()) + part.too_long == 7);
}
