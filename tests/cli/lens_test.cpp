// The verbs that say why: lens, run --why and trace --html, run as a user runs them.
#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;
using nlohmann::json;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");
const std::string kPrompt = "1,310,259,307,322,263,321,329";

std::ptrdiff_t n_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("lens: its last line is what logits prints, at the last position or those asked for") {
  const auto logits = run_program({"logits", kModel, "--prompt-ids", kPrompt, "--json"});
  const auto scores = json::parse(logits.output).get<std::vector<double>>();
  const auto likeliest = std::max_element(scores.begin(), scores.end()) - scores.begin();
  const auto last = json::parse(run_program({"lens", kModel, "--prompt-ids", kPrompt, "--json", "--top", "3"}).output);
  REQUIRE(last.size() == 1);
  CHECK(last[0]["position"] == 7);
  CHECK(last[0]["token"] == 329);
  CHECK(last[0]["depths"].back().size() == 3);
  CHECK(last[0]["depths"].back()[0]["token"] == likeliest);

  const auto all = json::parse(run_program({"lens", kModel, "--prompt-ids", kPrompt, "--json", "--all"}).output);
  CHECK(all.size() == 8);
  CHECK(all[7]["depths"].back()[0] == last[0]["depths"].back()[0]);
  const auto some = run_program({"lens", kModel, "--prompt-ids", kPrompt, "--positions", "2-3,6"});
  CHECK(some.status == 0);
  CHECK(some.output.find("at position 2\nembedding ") != std::string::npos);
  CHECK(n_lines(some.output) == 3 * (1 + static_cast<std::ptrdiff_t>(last[0]["depths"].size())) + 2);
  const auto wrong = run_program({"lens", kModel, "--prompt-ids", kPrompt, "--positions", "8"});
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.errors, "expected numbers and ranges from 0 to 7"));
  CHECK(n_lines(wrong.errors) == 1);
  CHECK(run_program({"lens", kModel, "-p", "a", "--all", "--positions", "0"}).status == 2);
}

TEST_CASE("run --why: the same text, and a line for each token on standard error") {
  const auto plain = run_program({"run", kModel, "-p", "a", "-n", "9", "-s", "3"});
  const auto why = run_program({"run", kModel, "-p", "a", "-n", "9", "-s", "3", "--why"});
  CHECK(why.status == 0);
  CHECK(why.output == plain.output);
  CHECK(contains(why.errors, "position  token"));
  for (const char* stage : {"model", "top-k 40", "top-p 0.95", "min-p 0.05", "temp 0.8", "random"}) {
    CHECK(contains(why.errors, stage));
  }
  CHECK_FALSE(contains(why.errors, "penalty"));
  CHECK(n_lines(why.errors) - n_lines(plain.errors) == 1 + 9);
  const auto greedy =
      run_program({"run", kModel, "-p", "a", "-n", "4", "--temp", "0", "--why", "--repeat-penalty", "1.2"});
  CHECK(contains(greedy.errors, "greedy (--temp 0)"));
  CHECK(contains(greedy.errors, "penalty 1.2"));
  CHECK_FALSE(contains(greedy.errors, "top-k"));
}

TEST_CASE("trace --html: a page, whole or not at all") {
  const TemporaryFolder folder;
  const std::string page = folder / "run.html";
  const auto made = run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", page, "-n", "5", "-s", "1"});
  CHECK(made.status == 0);
  CHECK(made.output.empty());
  CHECK(contains(made.errors, "open it in a browser"));
  CHECK(file_bytes(page).starts_with("<!doctype html>"));
  CHECK(file_bytes(page).ends_with("</html>\n"));
  const auto again =
      run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", folder / "again.html", "-n", "5", "-s", "1"});
  CHECK(file_bytes(folder / "again.html") == file_bytes(page));
  // A context that is full leaves the last token unread, and an empty continuation is a page too.
  CHECK(run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", page, "-n", "-1", "-c", "12", "--ignore-eos"})
            .status == 0);
  CHECK(contains(file_bytes(page), "\"computed\":12"));
  CHECK(run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", page, "-n", "0", "--filter", "nothing"})
            .status == 0);
  CHECK(contains(file_bytes(page), "\"attention\":[]"));
  const auto both =
      run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", page, "-n", "1", "--text", "-s", "1"});
  CHECK(contains(both.output, "logits"));

  const auto nowhere = run_program({"trace", kModel, "-p", "a", "--html", folder / "no/run.html"});
  CHECK(nowhere.status == 1);
  CHECK(contains(nowhere.errors, "no/run.html"));
  const auto too_long =
      run_program({"trace", kModel, "--prompt-ids", kPrompt, "--html", folder / "long.html", "-c", "4"});
  CHECK(too_long.status == 1);
  CHECK_FALSE(std::filesystem::exists(folder / "long.html"));
  CHECK(run_program({"trace", kModel, "-p", "a", "-n", "4", "--text"}).status == 2);
  CHECK(run_program({"trace", kModel, "-p", "a", "--html", page, "--language", "latin"}).status == 2);
}
