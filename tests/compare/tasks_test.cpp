#include "compare/tasks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "compare/recall_task.h"
#include "compare/text_data.h"

using namespace orrery;

namespace {

// Reads any of the six forms of a date; independent of how they are made.
std::string iso_of(const std::string& text) {
  static const std::map<std::string, int> kMonths = {{"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},
                                                     {"may", 5}, {"jun", 6},  {"jul", 7},  {"aug", 8},
                                                     {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}};
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (std::string_view(" ,./").find(c) == std::string_view::npos) {
      parts.back() += c;
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
  }
  REQUIRE(parts.size() == 3);
  const auto is_word = [](const std::string& part) { return part[0] >= 'a' && part[0] <= 'z'; };
  int day = 0, month = 0;
  if (is_word(parts[0])) {
    month = kMonths.at(parts[0].substr(0, 3));
    day = std::stoi(parts[1]);
  } else if (is_word(parts[1])) {
    day = std::stoi(parts[0]);
    month = kMonths.at(parts[1].substr(0, 3));
  } else {
    const bool day_comes_first = text.find('.') != std::string::npos;
    day = std::stoi(parts[day_comes_first ? 0 : 1]);
    month = std::stoi(parts[day_comes_first ? 1 : 0]);
  }
  char line[32];
  std::snprintf(line, sizeof line, "%04d-%02d-%02d", std::stoi(parts[2]), month, day);
  return line;
}

}  // namespace

TEST_CASE("compare: tasks say what is right") {
  Random random(1);
  const auto reverse = reverse_task(), dates = dates_task(), addition = addition_task(8);
  std::set<std::string> forms;
  for (int i = 0; i < 300; ++i) {
    const SequencePair turned = reverse->pair(random, 1 + i % 40);
    CHECK(turned.source.size() == size_t(1 + i % 40));
    CHECK(std::equal(turned.source.begin(), turned.source.end(), turned.target.rbegin(), turned.target.rend()));

    const SequencePair date = dates->pair(random, 1 + i % 4);
    CHECK(iso_of(date.source) == date.target);
    CHECK(std::to_string(std::stoi(date.target.substr(0, 4))).size() == size_t(1 + i % 4));
    forms.insert(std::string(1, date.source[0] <= '9' ? '1' : 'a') + (date.source.find('.') < 9 ? "." : "") +
                 (date.source.find('/') < 9 ? "/" : "") + (date.source.find(',') < 99 ? "," : ""));

    const SequencePair sum = addition->pair(random, 1 + i % 8);
    const size_t plus = sum.source.find('+');
    CHECK(std::stoull(sum.source.substr(0, plus)) + std::stoull(sum.source.substr(plus + 1)) ==
          std::stoull(sum.target));
    CHECK(std::max(plus, sum.source.size() - plus - 1) == size_t(1 + i % 8));
  }
  CHECK(forms.size() >= 4);
}

TEST_CASE("compare: tasks keep to the sizes and characters that they name, and to their seed") {
  for (const std::string& name : sequence_task_names()) {
    CAPTURE(name);
    const auto task = sequence_task(name);
    CHECK(task->name() == name);
    Random random(2), same(2);
    for (int i = 0; i < 200; ++i) {
      const int length = task->shortest() + i % (task->longest() - task->shortest() + 1);
      const SequencePair pair = task->pair(random, length), again = task->pair(same, length);
      CHECK(pair.source == again.source);
      CHECK(pair.target == again.target);
      CHECK(int(pair.source.size()) <= task->longest_source());
      CHECK(int(pair.target.size()) <= task->longest_target());
      CHECK(task->alphabet().decode(task->alphabet().encode(pair.source)) == pair.source);
      CHECK(task->alphabet().decode(task->alphabet().encode(pair.target)) == pair.target);
    }
  }
  CHECK_THROWS_AS(sequence_task("sorting"), Error);
  CHECK_THROWS_AS(reverse_task(4)->alphabet().encode("abcde"), Error);
  const TokenId ids[] = {Alphabet::kBegin, 2, 3, Alphabet::kEnd};
  CHECK(reverse_task(4)->alphabet().decode(ids) == "ab");
  CHECK(reverse_task(4)->alphabet().letters(ids) == std::vector<std::string>{"^", "a", "b", "$"});
}

TEST_CASE("compare: a question of recall has its answer in it") {
  const RecallTask task{.n_pairs = 3, .n_keys = 5, .n_values = 4, .n_noises = 2};
  Random random(3);
  std::map<TokenId, int> answers;
  for (int i = 0; i < 400; ++i) {
    const int noise = i % 7;
    const RecallTask::Question question = task.question(random, noise);
    const std::vector<TokenId>& tokens = question.tokens;
    REQUIRE(int(tokens.size()) == task.rows(noise) + 1);
    REQUIRE(question.weights.size() == tokens.size() - 1);
    CHECK(total_weight(std::vector<Sample>{question.sample()}) == 1);
    CHECK(question.weights.back() == 1);
    std::map<TokenId, TokenId> pairs;
    for (int pair = 0; pair < 3; ++pair) pairs[tokens[size_t(2 * pair)]] = tokens[size_t(2 * pair + 1)];
    CHECK(pairs.size() == 3);  // keys are different
    for (int j = 6; j < 6 + noise; ++j) CHECK((tokens[size_t(j)] >= 5 && tokens[size_t(j)] < 11));
    CHECK(tokens[size_t(6 + noise)] == task.question());
    CHECK(pairs.at(tokens[tokens.size() - 2]) == tokens.back());
    ++answers[tokens.back()];
  }
  CHECK(answers.size() == 4);
  CHECK_THROWS_AS((RecallTask{.n_pairs = 9, .n_keys = 8}.question(random, 1)), Error);
  CHECK_THROWS_AS(task.question(random, -1), Error);
}

TEST_CASE("compare: noise to learn from is as often short as long") {
  Random random(3);
  constexpr int kDraws = 40000, kLongest = 98;
  std::vector<int> times(kLongest + 1);
  for (int i = 0; i < kDraws; ++i) ++times.at(size_t(RecallTask::noise_up_to(kLongest, random)));
  // Each power of ten of noise + 1 has half of them.
  const auto share = [&](int first, int last) {
    int sum = 0;
    for (int noise = first; noise <= last; ++noise) sum += times[size_t(noise)];
    return double(sum) / kDraws;
  };
  CHECK(share(0, 8) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(share(9, 98) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(times[0] == doctest::Approx(kDraws * std::log10(2) / 2).epsilon(0.03));
  CHECK(times[kLongest] > 0);
  CHECK(RecallTask::noise_up_to(0, random) == 0);
}

TEST_CASE("compare: texts to learn from") {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const std::string name = invented_name(random);
    const auto vowels = std::count_if(
        name.begin(), name.end(), [](char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; });
    CHECK((vowels == 2 || vowels == 3));
  }
  const TextData names = text_data("names", 1);
  CHECK(names.training->size() == 2000);
  CHECK(names.held_out->size() == 500);
  CHECK(text_data("names", 1).training->fingerprint() == names.training->fingerprint());
  CHECK(text_data("names", 2).training->fingerprint() != names.training->fingerprint());
  CHECK_THROWS_AS(text_data("poems", 1), Error);
}
