// What goes wrong ends in one line on standard error and the right status, and nothing on standard output.
#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");

void check_refused(const std::vector<std::string>& arguments, int status, const std::string& words,
                   const ProgramInput& input = {}) {
  const auto result = run_program(arguments, input);
  CAPTURE(result.errors);
  CHECK(result.status == status);
  CHECK(result.output.empty());
  CHECK(result.errors.find(words) != std::string::npos);
  // What stands before the last line (a banner, a seed) is no part of the error; usage errors point to the help.
  std::string lines = result.errors;
  if (status == 2) lines.resize(lines.rfind("See '"));
  REQUIRE(lines.ends_with("\n"));
  const size_t begin = lines.rfind('\n', lines.size() - 2);
  CHECK(lines.substr(begin == std::string::npos ? 0 : begin + 1).starts_with("orrery"));
}

}  // namespace

TEST_CASE("a command line at fault: status 2") {
  check_refused({}, 2, "subcommand is required");
  check_refused({"fly"}, 2, "there is no verb 'fly'; there are run, ");
  check_refused({kModel}, 2, "the verb comes first: orrery run");
  check_refused({"run", kModel, "--tmp", "1"}, 2, "--tmp");
  check_refused({"run", kModel, "-t", "0.8"}, 2, "did you mean --temp 0.8?");
  check_refused({"run", kModel, "-t", "0"}, 2, "-t");
  check_refused({"run", kModel, "-n", "many"}, 2, "-n");
  check_refused({"run", kModel, "-p"}, 2, "-p");
  check_refused({"run", kModel, "-p", "a", "-f", "b"}, 2, "excludes");
  check_refused({"run", kModel, "--kernels", "slow"}, 2, "slow");
  check_refused({"run", kModel, "-ctk", "q3"}, 2, "q3");
  check_refused({"train", kModel, "--optimizer", "foo"}, 2, "--optimizer: foo not in {adamw,muon,sgd}");
  check_refused({"detokenize", kModel}, 2, "--ids");
}

TEST_CASE("help and version are no faults") {
  const auto help = run_program({"run", "--help"});
  CHECK(help.status == 0);
  CHECK(help.output.find("--top-k") != std::string::npos);
  CHECK(run_program({"--version"}).output.starts_with("orrery "));
}

TEST_CASE("input at fault: status 1, one line") {
  const TemporaryFolder folder;
  check_refused({"run", folder / "none.gguf"}, 1, "No such file");
  check_refused({"run", folder / ""}, 1, "no config.json");
  check_refused({"run", write_file(folder / "empty.gguf", "")}, 1, "empty");
  check_refused({"run", write_file(folder / "text.gguf", "Once upon a time there was a file that was no model.\n")}, 1,
                "text.gguf");
  check_refused({"run", kModel, "-f", folder / "none.txt"}, 1, "none.txt");
  check_refused({"run", kModel, "--prompt-ids", "1,x"}, 1, "whole numbers");
  check_refused({"run", kModel, "--prompt-ids", "99999", "-n", "1"}, 1, "there is no such token");
  check_refused({"run", kModel, "--temp", "-1"}, 1, "--temp");
  check_refused({"perplexity", kModel}, 1, "too short");
  check_refused({"bench", "--shape", "GPT-9"}, 1, "SmolLM2-135M");
  check_refused({"bench", "--shape", "GPT-2", "--type", "q9"}, 1, "--type");
}

TEST_CASE("without a model and without one that ships, the error says what to do") {
  const TemporaryFolder folder;
  const std::filesystem::path shipped =
      std::filesystem::path(program_path()).parent_path() / "../../models/storyteller.gguf";
  if (!std::filesystem::exists(shipped)) check_refused({"run"}, 1, "-m FILE");
  // ORRERY_HOME comes first.
  std::filesystem::create_directory(folder / "models");
  std::filesystem::copy_file(kModel, folder / "models/storyteller.gguf");
  const auto result = run_program({"run", "-n", "1"}, {.environment = {"ORRERY_HOME=" + folder.path().string()}});
  CHECK(result.status == 0);
}

TEST_CASE("names from files never send control characters to a terminal") {
  const TemporaryFolder folder;
  const std::string odd = write_file(folder / "odd\x1b[31m.gguf", "x");
  const auto result = run_program({"run", odd});
  CHECK(result.status == 1);
  CHECK(result.errors.find('\x1b') == std::string::npos);
  CHECK(result.errors.find("\\x1B") != std::string::npos);
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
}

TEST_CASE("odd surroundings change nothing") {
  const std::vector<std::string> run = {"run", kModel, "-p", "a", "-n", "8", "--temp", "0"};
  const auto expected = run_program(run);
  for (const char* setting :
       {"LC_ALL=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8", "LANG=C", "NO_COLOR=1", "TERM=dumb", "OMP_NUM_THREADS=1",
        "OMP_NUM_THREADS=3", "OMP_NUM_THREADS=0", "OMP_NUM_THREADS=many", "OMP_NUM_THREADS=100000"}) {
    CAPTURE(setting);
    const auto result = run_program(run, {.environment = {setting}});
    CHECK(result.status == 0);
    CHECK(result.output == expected.output);
  }
}
