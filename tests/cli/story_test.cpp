// orrery stories and orrery eval, run as a user runs them.
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "files/gguf_writer.h"
#include "files/random_checkpoint.h"
#include "learn/bpe_trainer.h"
#include "learn/story_lines.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"
#include "support/program.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A small model with random weights and a tokenizer that knows stories.
std::string write_model(const std::string& path, int context_length = 1024) {
  StoryLines lines(StoryWorld::built_in(), {Language::english, Language::chinese}, 1);
  std::string text;
  for (int i = 0; i < 100; ++i) text += lines.next().text + "\n";
  const std::string_view view = text;
  const Vocabulary vocabulary = train_bpe(std::span(&view, 1), {.vocabulary_size = 600});
  ModelConfig config = small_config(0);
  config.vocab_size = static_cast<int>(vocabulary.pieces.size());
  config.context_length = context_length;
  Checkpoint checkpoint = random_checkpoint(config, DType::F32, 1);
  checkpoint.vocabulary = vocabulary;
  write_gguf(path, checkpoint);
  return path;
}

}  // namespace

TEST_CASE("stories are told one a line, and the seed decides which") {
  const auto result = run_program({"stories", "-n", "6", "--seed", "1"});
  CHECK(result.status == 0);
  CHECK(result.errors.empty());
  StoryLines both(StoryWorld::built_in(), {Language::english, Language::chinese}, 1);
  const auto lines = lines_of(result.output);
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines) CHECK(line == both.next().text);
  const auto fewer = run_program({"stories", "--count=2", "-s", "1"});
  CHECK(fewer.output == lines[0] + "\n" + lines[1] + "\n");
  StoryLines chinese(StoryWorld::built_in(), {Language::chinese}, 3);
  std::string expected;
  for (int i = 0; i < 2; ++i) expected += chinese.next().text + "\n";
  CHECK(run_program({"stories", "-n", "2", "-s", "3", "--language", "chinese"}).output == expected);
  // More than is printed at once, all of it and nothing twice.
  StoryLines many(StoryWorld::built_in(), {Language::english, Language::chinese}, 2);
  std::string all;
  for (int i = 0; i < 500; ++i) all += many.next().text + "\n";
  CHECK(run_program({"stories", "-n", "500", "-s", "2"}).output == all);
  // Drawn, printed, and the same again.
  const auto drawn = run_program({"stories"});
  CHECK(lines_of(drawn.output).size() == 10);
  REQUIRE(drawn.errors.starts_with("seed "));
  CHECK(run_program({"stories", "-s", drawn.errors.substr(5, drawn.errors.find(' ', 5) - 5)}).output == drawn.output);
}

TEST_CASE("stories --check says of each line what it is, and fails where one is no story") {
  const TemporaryFolder folder;
  const std::string told = run_program({"stories", "-n", "4", "--seed", "5"}).output;
  auto result = run_program({"stories", "--check", write_file(folder / "told.txt", told)});
  CHECK(result.status == 0);
  auto lines = lines_of(result.output);
  REQUIRE(lines.size() == 5);
  StoryLines stories(StoryWorld::built_in(), {Language::english, Language::chinese}, 5);
  for (int i = 0; i < 4; ++i) {
    CHECK(lines[static_cast<size_t>(i)] == "line " + std::to_string(i + 1) + ": " + (i % 2 ? "chinese" : "english") +
                                               " story, -log P " + fixed(-stories.next().log_probability, 2) + " nats");
  }
  CHECK(lines[4] == "4 of 4 lines are stories of the world");

  result = run_program({"stories", "--check", "-"}, {.text = lines_of(told)[1] + "\r\nOnce upon a time \x1b[31m\n"});
  CHECK(result.status == 1);
  lines = lines_of(result.output);
  REQUIRE(lines.size() == 3);
  CHECK(contains(lines[0], "chinese story"));
  CHECK(lines[1].starts_with("line 2: no story: english after 4 words: expected "));
  CHECK(contains(lines[1], "\\x1B"));
  CHECK(lines[2] == "1 of 2 lines are stories of the world");
  CHECK(run_program({"stories", "--check", "-"}).status == 1);  // nothing there is no success
  CHECK(run_program({"stories", "--check", folder / "none.txt"}).status == 1);
  CHECK(run_program({"stories", "--check", "-", "--statistics"}).status == 2);
  CHECK(run_program({"stories", "-n", "0"}).status == 2);
  CHECK(run_program({"stories", "--language", "french"}).status == 2);
}

TEST_CASE("stories --statistics prints what the world knows of itself") {
  const auto result = run_program({"stories", "--statistics", "-n", "300", "-s", "4"});
  CHECK(result.status == 0);
  for (const Language language : kLanguages) {
    Random random(4);
    const StoryStatistics all = StoryWorld::built_in().statistics(random, language, 300);
    CHECK(contains(result.output, std::string(name_of(language)) + ": 300 stories\n"));
    CHECK(contains(result.output, fixed(all.mean_nats, 2) + " ± " + fixed(all.nats_error, 2) + " nats"));
    CHECK(contains(result.output, fixed(all.mean_length, 1)));
    CHECK(contains(result.output, std::to_string(all.vocabulary) + " different"));
  }
  CHECK_FALSE(contains(run_program({"stories", "--statistics", "-n", "9", "--language", "chinese"}).output, "english"));
}

TEST_CASE("eval gives the story exam; tables and JSON agree, for any number of threads") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder / "m.gguf");
  const std::string training = write_file(folder / "training.txt", "no story\n");
  const std::vector<std::string> exam = {"eval", model, "--stories", "6", "--recall", "4", "--tell", "3", "-s", "2"};
  const auto tables = run_program(exam);
  CAPTURE(tables.errors);
  REQUIRE(tables.status == 0);
  auto other = exam;
  other.insert(other.end(), {"-t", "1"});
  CHECK(run_program(other).output == tables.output);
  other = exam;
  other.insert(other.end(), {"--json", "--training", training});
  const auto text = run_program(other);
  REQUIRE(text.status == 0);
  const json result = json::parse(text.output);
  CHECK(result.size() == 3);
  CHECK(result["loss"]["together"]["stories"] == 6);
  CHECK(result["loss"]["english"]["stories"] == 3);
  StoryLines stories(StoryWorld::built_in(), {Language::english, Language::chinese}, 2);
  double floor = 0;
  for (int i = 0; i < 6; ++i) floor += std::log(2) - stories.next().log_probability;
  const double tokens = result["loss"]["together"]["tokens"];
  CHECK(result["loss"]["together"]["floor_nats_per_token"].get<double>() ==
        doctest::Approx(floor / tokens).epsilon(1e-4));
  CHECK(contains(tables.output, fixed(result["loss"]["together"]["model_nats_per_token"], 4)));
  CHECK(contains(tables.output, fixed(floor / tokens, 4)));
  CHECK(result["recall"]["by_distance"]["all"]["together"]["asked"] == 20);
  CHECK(result["recall"]["by_distance"]["1-25"]["chinese"]["asked"] == 2);
  int by_fact = 0;
  for (const auto& fact : result["recall"]["by_fact"]) by_fact += fact["together"]["asked"].get<int>();
  CHECK(by_fact == 20);
  const int far = result["recall"]["by_distance"]["over 100 tokens"]["together"]["asked"];
  CHECK(far >= 4);  // the farthest range is
  CHECK(far < 20);
  CHECK(contains(tables.output, "over 100 tokens"));
  CHECK(result["told"]["together"]["told"] == 3);
  CHECK(result["told"]["together"]["stories"] == 0);
  CHECK(result["told"]["together"]["in_training"] == 0);
  CHECK(result["told"]["mistakes"].size() == 3);
  CHECK(contains(tables.output, "first mistakes:\n  1, "));
  CHECK(lines_of(text.output).size() == 1);
  other = {"eval", model, "--stories", "6", "-s", "3", "--json"};
  const json part = json::parse(run_program(other).output);
  CHECK(part.size() == 1);
  CHECK(part["loss"] != result["loss"]);
}

TEST_CASE("eval judges pairs of sentences, and says what a file lacks") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder / "m.gguf");
  const std::string pairs = write_file(folder / "p.tsv",
                                       "paradigm\tfield\tgood\tbad\none\tsyntax\tThe end.\tThe end of the end.\n"
                                       "two\tsyntax\tThe end of the end.\tThe end.\n");
  const auto result = run_program({"eval", model, "--pairs", pairs});
  CHECK(result.status == 0);
  CHECK(result.output.starts_with("2 pairs of sentences"));
  CHECK(contains(result.output, "all pairs: 1/2 50.0%\n"));
  CHECK_FALSE(contains(result.output, "stories"));
  const json parsed = json::parse(run_program({"eval", model, "--pairs", pairs, "--json"}).output);
  CHECK(parsed["pairs"]["all"]["right"] == 1);
  CHECK(parsed["pairs"]["paradigms"]["one"]["pairs"] == 1);
  for (const auto& [arguments, words] :
       {std::pair<std::vector<std::string>, std::string>{{"--pairs", folder / "none.tsv"}, "none.tsv"},
        {{"--pairs", write_file(folder / "bad.tsv", "good\tbad\n")}, "column 'paradigm'"},
        {{"--training", folder / "none.txt"}, "none.txt"},
        {{"--temp", "-1"}, "--temp"}}) {
    std::vector<std::string> all = {"eval", model};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto refused = run_program(all);
    CAPTURE(refused.errors);
    CHECK(refused.status == 1);
    CHECK(refused.output.empty());
    CHECK(contains(refused.errors, words));
  }
  CHECK(run_program({"eval", model, "--recall", "0"}).status == 2);
}

TEST_CASE("eval tells stories as its options draw them") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder / "m.gguf");
  const auto tell = [&](const std::vector<std::string>& draws) {
    std::vector<std::string> all = {"eval", model, "--tell", "2"};
    all.insert(all.end(), draws.begin(), draws.end());
    return run_program(all).output;
  };
  CHECK(tell({}).starts_with("2 stories that the model tells, at temperature 1.00\n"));
  const std::string cut = tell({"--temp", "0.5", "--top-k", "1", "--min-p", "0.1"});
  CHECK(cut.starts_with("2 stories that the model tells, at temperature 0.50, top-k 1, min-p 0.10\n"));
  // Of one candidate, the temperature makes no difference.
  const std::string hot = tell({"--temp", "5", "--top-k", "1"});
  CHECK(cut.substr(cut.find('\n')) == hot.substr(hot.find('\n')));
  CHECK(run_program({"eval", model, "--top-p", "2"}).status == 1);
}

TEST_CASE("eval reports what the context is too short for") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder / "m.gguf", 100);
  const auto result = run_program({"eval", model, "--stories", "3", "--recall", "2", "--tell", "1"});
  CHECK(result.status == 0);
  CHECK(contains(result.output, "3 stories do not fit the context and are left out"));
  CHECK(contains(result.output, "questions do not fit the context"));
  CHECK(contains(result.output, "no end token within 100 tokens"));
}

TEST_CASE("Ctrl-C ends an exam with what is finished, and 130") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder / "m.gguf");
  const auto result = run_program({"eval", model, "--stories", "1000000"}, {.interrupt_after_seconds = 0.5});
  CHECK(result.status == 130);
  CHECK(result.output.empty());
  CHECK(run_program({"stories", "-n", "100000000", "-s", "1"}, {.interrupt_after_seconds = 0.3}).status == 130);
}
