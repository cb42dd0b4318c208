// The verbs that compute, run as a user runs them.
#include <algorithm>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;
using nlohmann::json;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");
const std::string kPrompt = "1,310,259,307,322,263,321,329";

std::vector<std::string> arguments(std::initializer_list<std::string> list) { return {list}; }

}  // namespace

TEST_CASE("run prints the greedy ids of the manifest, whatever way the model is named") {
  const json expected = json::parse("[124, 120, 6, 75, 246, 313]");
  for (const auto& start : {arguments({"run", "-m", kModel}), arguments({"run", kModel}),
                            arguments({"run", "--model=" + kModel, "--kernels", "reference"}),
                            arguments({"run", kModel, "--kernels", "double"})}) {
    auto all = start;
    for (const char* more : {"--prompt-ids", kPrompt.c_str(), "--temp", "0", "-n", "6", "--print-ids"})
      all.push_back(more);
    const auto result = run_program(all);
    CHECK(result.status == 0);
    CHECK(json::parse(result.output) == expected);
    CHECK(result.errors.find("GB/s") != std::string::npos);
  }
}

TEST_CASE("flags are understood in llama.cpp's and in other spellings") {
  const auto expected =
      run_program({"run", kModel, "-p", "hello", "--temp", "0.7", "--top-k", "5", "-n", "9", "-s", "3"});
  CHECK(expected.status == 0);
  const auto other = run_program({"run", kModel, "--prompt", "hello", "--temperature=0.7", "--top_k", "5",
                                  "--max_new_tokens", "9", "--seed", "3"});
  CHECK(other.status == 0);
  CHECK(other.output == expected.output);
}

TEST_CASE("the seed decides: the same again, a drawn one is printed and can be given back") {
  const auto drawn = run_program({"run", kModel, "-p", "a", "-n", "20"});
  const size_t at = drawn.errors.find("seed ");
  REQUIRE(at != std::string::npos);
  const std::string seed = drawn.errors.substr(at + 5, drawn.errors.find(' ', at + 5) - at - 5);
  const auto again = run_program({"run", kModel, "-p", "a", "-n", "20", "--seed", seed, "-t", "3"});
  CHECK(again.output == drawn.output);
}

TEST_CASE("the text goes to standard output, all else to standard error") {
  const auto result = run_program({"run", kModel, "-p", "ab", "-n", "4", "--temp", "0"});
  CHECK(result.output.starts_with("ab"));
  CHECK(result.output.ends_with("\n"));
  const auto only_new = run_program({"run", kModel, "-p", "ab", "-n", "4", "--temp", "0", "--no-display-prompt"});
  CHECK("ab" + only_new.output == result.output);
  const auto nothing = run_program({"run", kModel, "-p", "ab", "-n", "0"});
  CHECK(nothing.output == "ab\n");
}

TEST_CASE("prompts come from a file or standard input, bytes unchanged, also ones that look like flags") {
  const TemporaryFolder folder;
  const std::string text = "-x\n ab ";
  const std::string path = write_file(folder / "prompt", text);
  const auto from_file = run_program({"run", kModel, "-f", path, "-n", "3", "--temp", "0"});
  CHECK(from_file.status == 0);
  CHECK(from_file.output.starts_with(text));
  CHECK(run_program({"run", kModel, "-f", "-", "-n", "3", "--temp", "0"}, {.text = text}).output == from_file.output);
  CHECK(run_program({"run", kModel, "-p", text, "-n", "3", "--temp", "0"}).output == from_file.output);
}

TEST_CASE("--verbose-prompt shows what is fed, --stop ends before its text") {
  const auto result = run_program({"run", kModel, "-p", "a", "-n", "12", "--temp", "0", "--verbose-prompt"});
  CHECK(result.errors.find("prompt: 2 tokens") != std::string::npos);
  CHECK(result.errors.find("       1  '<s>'") != std::string::npos);
  // Stop at the last printable character of the text: everything before it comes out.
  size_t at = result.output.size() - 2;
  while (at > 1 && (result.output[at] < 'a' || result.output[at] > 'z')) --at;
  const std::string stop(1, result.output[at]);
  const size_t first = result.output.find(stop, 1);
  const auto stopped = run_program({"run", kModel, "-p", "a", "-n", "12", "--temp", "0", "--stop", stop});
  CHECK(stopped.output == result.output.substr(0, first) + "\n");
}

TEST_CASE("a full context ends the text with a note; a longer prompt is refused") {
  const auto full = run_program({"run", kModel, "-p", "a", "-c", "12", "--ignore-eos", "--temp", "0"});
  CHECK(full.status == 0);
  CHECK(full.errors.find("the context of 12 tokens is full") != std::string::npos);
  const auto refused = run_program({"run", kModel, "-p", "one two three", "-c", "4"});
  CHECK(refused.status == 1);
  CHECK(refused.errors.find("the prompt is longer than the context; expected at most 4 tokens") != std::string::npos);
  const auto absurd = run_program({"run", kModel, "-c", "100000000"});
  CHECK(absurd.status == 1);
  CHECK(absurd.errors.find("the model does not know a context of that length") != std::string::npos);
}

TEST_CASE("Ctrl-C ends a run with status 130 and leaves the text so far") {
  // An endless text: the cache may be long, and nothing ends it.
  const TemporaryFolder folder;
  const std::string big = folder / "big.gguf";
  const auto saved = run_program({"bench", "--shape", "stories15M", "--save", big, "-p", "0", "-n", "0"});
  REQUIRE(saved.status == 0);
  const auto result = run_program({"run", big, "--prompt-ids", "1", "--kernels", "reference", "-n", "250"},
                                  {.interrupt_after_seconds = 1.0});
  CHECK(result.status == 130);
  CHECK(result.output.starts_with("["));
  CHECK(result.output.ends_with("]\n"));
}

TEST_CASE("logits prints a table, or all as JSON") {
  const auto table = run_program({"logits", kModel, "--prompt-ids", kPrompt, "--top", "3"});
  CHECK(table.status == 0);
  CHECK(std::count(table.output.begin(), table.output.end(), '\n') == 4);
  const auto all = run_program({"logits", kModel, "--prompt-ids", kPrompt, "--json"});
  const auto logits = json::parse(all.output).get<std::vector<double>>();
  CHECK(logits.size() == 336);
  CHECK(logits[0] == doctest::Approx(0.23705).epsilon(1e-3));
}

TEST_CASE("perplexity prints one line, and states its recipe") {
  const auto result = run_program({"perplexity", kModel, "-p", "the quick brown fox jumps over it", "--window", "16"});
  CHECK(result.status == 0);
  CHECK(result.output.starts_with("perplexity "));
  CHECK(result.errors.find("windows of 16 tokens, 8 apart, each after BOS") != std::string::npos);
}

TEST_CASE("bench prints one line for each test, in three formats") {
  const std::vector<std::string> base = {"bench", kModel, "-p", "8", "-n", "4", "-d", "0,3", "-r", "1", "-t", "1"};
  auto with = [&](const std::string& format) {
    auto all = base;
    all.insert(all.end(), {"-o", format});
    return run_program(all);
  };
  const auto md = with("md");
  CHECK(md.status == 0);
  CHECK(md.output.find("pp8 @ d3") != std::string::npos);
  CHECK(std::count(md.output.begin(), md.output.end(), '\n') == 6);
  const json parsed = json::parse(with("json").output);
  CHECK(parsed.size() == 4);
  CHECK(parsed[1]["test"] == "tg4");
  CHECK(parsed[1]["unit"] == "GB/s");
  CHECK(parsed[0]["tokens_per_second"].get<double>() > 0);
  const auto csv = with("csv").output;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
}
