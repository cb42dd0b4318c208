// orrery compare, as a user runs it.
#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

std::vector<std::string> tiny(const std::string& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"compare", "--quick", "--minutes", "0.02",  "--parameters", "3000",
                                        "--parts", "names",   "--rates",   "0.003", "--output",     folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("compare prints tables, draws figures and does nothing twice") {
  const TemporaryFolder folder;
  const std::string to = folder / "made" + "/for it";
  const auto first = run_program(tiny(to));
  CAPTURE(first.errors);
  REQUIRE(first.status == 0);
  CHECK(first.output.find("### Loss on held-out names") != std::string::npos);
  for (const char* model : {"| rnn |", "| lstm |", "| gru |", "| transformer |"}) {
    CHECK(first.output.find(model) != std::string::npos);
  }
  CHECK(first.errors.find("settings: ") != std::string::npos);
  CHECK(file_bytes(to + "/names-seconds.png").starts_with("\x89PNG"));
  CHECK(file_bytes(to + "/names-tokens.png").starts_with("\x89PNG"));

  const auto again = run_program(tiny(to));
  CHECK(again.status == 0);
  CHECK(again.output == first.output);  // the same seconds, too: nothing was trained
  CHECK(again.errors.find("with 8 that are done") != std::string::npos);
  const auto csv = run_program(tiny(to, {"-o", "csv"}));
  CHECK(csv.output.starts_with("# Loss on held-out names"));
  CHECK(run_program(tiny(to, {"-o", "json"})).output.starts_with("[\n {\"title\""));
}

TEST_CASE("compare stops at Ctrl-C, keeps what is done, and goes on") {
  const TemporaryFolder folder;
  std::vector<std::string> arguments = tiny(folder / "c");
  arguments[3] = "0.2";  // minutes
  const auto stopped = run_program(arguments, {.interrupt_after_seconds = 3});
  CAPTURE(stopped.errors);
  CHECK(stopped.status == 130);
  CHECK(stopped.errors.find("goes on with what is missing") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "c"));
}

TEST_CASE("compare refuses what makes no sense in one line") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& more, int status, const std::string& words) {
    std::vector<std::string> arguments = {"compare", "--output", folder / "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_program(arguments);
    CAPTURE(result.errors);
    CHECK(result.status == status);
    CHECK(result.output.empty());
    CHECK(result.errors.find(words) != std::string::npos);
    CHECK(!std::filesystem::exists(folder / "x"));
  };
  refused({"--parts", "costs,beauty"}, 1, "beauty");
  refused({"--tasks", "sorting"}, 1, "sorting");
  refused({"--minutes", "0"}, 1, "minutes");
  refused({"--parameters", "10"}, 1, "parameters");
  refused({"--rates", "0"}, 1, "rate");
  refused({"--equal", "luck"}, 2, "luck");
  refused({"-o", "xml"}, 2, "xml");
  const std::string file = write_file(folder / "file", "no folder");
  const auto result = run_program({"compare", "--quick", "--output", file + "/below"});
  CHECK(result.status == 1);
  CHECK(result.errors.find("this folder cannot be made") != std::string::npos);
}
