// Stopping, changing and looking at a forward pass, as a user asks for it.
#include <csignal>

#include <doctest/doctest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/npy.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");
const std::string kPrompt = "1,310,259,307,322,263,321,329";

ProgramResult run_with(const std::string& verb, std::vector<std::string> more) {
  std::vector<std::string> arguments = {verb, kModel, "--prompt-ids", kPrompt};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

// The signals that stop the program under a debugger that lets it go on each time, then its exit status.
std::vector<int> traced(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    if (freopen("/dev/null", "w", stdout) == nullptr || freopen("/dev/null", "w", stderr) == nullptr) _exit(126);
    std::vector<char*> argv = {const_cast<char*>("orrery")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(program_path(), argv.data());
    _exit(127);
  }
  std::vector<int> events;
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    events.push_back(WSTOPSIG(status));
    ptrace(PTRACE_CONT, child, nullptr, nullptr);
  }
  events.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return events;
}

}  // namespace

TEST_CASE("--stop-at prints the tensor and ends with status 4, before any result") {
  const auto result = run_with("logits", {"--stop-at", "blk.1.attn.weights@5"});
  CHECK(result.status == 4);
  CHECK(result.output.empty());
  CHECK(result.errors.starts_with("stopped at blk.1.attn.weights@5\nblk.1.attn.weights  F32 [4, 8, 8], layer 1, "));
  CHECK(contains(result.errors, "  position 5, head 0: "));

  // The prompt has positions 0 to 7; the second new token is at 9. What was written so far stays.
  const auto later = run_with("run", {"--temp", "0", "-n", "6", "--stop-at", "logits@9"});
  CHECK(later.status == 4);
  CHECK(contains(later.errors, "logits  F32 [1, "));
  CHECK(later.output.ends_with("\n"));
  const auto whole = run_with("run", {"--temp", "0", "-n", "6"});
  CHECK(whole.output.starts_with(later.output.substr(0, later.output.size() - 1)));
}

TEST_CASE("--stop-at: what is never reached is told, what does not exist is refused") {
  const auto never = run_with("logits", {"--json", "--stop-at", "embed@40"});
  CHECK(never.status == 0);
  CHECK(contains(never.errors, "note: embed@40 was never reached"));
  const auto unknown = run_with("logits", {"--stop-at", "blk.2.resid"});
  CHECK(unknown.status == 1);
  CHECK(contains(unknown.errors, "--stop-at blk.2.resid: the model announces no tensor of this name"));
  CHECK(run_with("logits", {"--stop-on", "inf"}).status == 1);
  CHECK(run_with("logits", {"--stop-at"}).status == 2);
}

TEST_CASE("under a debugger the program halts at each place, and can go on to its end") {
  const std::vector<std::string> arguments = {"logits", kModel, "--prompt-ids", kPrompt};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return traced(more);
  };
  CHECK(with({}) == std::vector{SIGTRAP, 0});  // the one of exec
  CHECK(with({"--stop-at", "blk.*.resid"}) == std::vector{SIGTRAP, SIGTRAP, SIGTRAP, 0});
}

TEST_CASE("--patch and --skip-layer change the result, alone and together") {
  const auto logits = [](std::vector<std::string> more) {
    more.emplace_back("--json");
    const auto result = run_with("logits", more);
    CHECK(result.status == 0);
    return result.output;
  };
  const TemporaryFolder folder;
  const std::string zeros = write_file(folder / "zeros.npy", npy_file("<f4", "(32,)", std::vector<double>(32)));
  const std::string sound = logits({});
  const std::string skipped = logits({"--skip-layer", "1"});
  CHECK(skipped != sound);
  // A block adds what attention and feed-forward give.
  CHECK(logits({"--patch", "blk.1.attn.out=zero", "--patch", "blk.1.ffn.out=" + zeros}) == skipped);
  CHECK(logits({"--patch", "blk.1.attn.out=zero"}) != skipped);
  CHECK(logits({"--patch", "embed@7=mean"}) != sound);
  CHECK(logits({"--skip-layer", "1", "--skip-layer", "0"}) == logits({"--patch", "blk.*.*.out=zero"}));
  const auto late = run_with("logits", {"--patch", "embed@40=zero"});
  CHECK(contains(late.errors, "note: --patch embed@40=zero changed nothing"));
  CHECK(contains(run_with("logits", {"--skip-layer", "2"}).errors, "--skip-layer 2: there is no such layer"));
}

TEST_CASE("attention: one head as numbers, all as a picture") {
  const auto head = run_with("attention", {"--layer", "1", "--head", "2"});
  CHECK(head.status == 0);
  CHECK(contains(head.output, "Attention weights, layer 1, head 2\n"));
  CHECK(contains(head.output, "(start)  1.00\n"));  // the first token sees only itself
  const TemporaryFolder folder;
  const std::string path = folder / "all.png";
  const auto all = run_with("attention", {"-o", path});
  CHECK(all.status == 0);
  CHECK(all.output.empty());
  CHECK(file_bytes(path).starts_with("\x89PNG"));
  // What is done to the pass shows: equal scores are equal weights.
  const auto equal = run_with("attention", {"--head", "0", "--patch", "blk.0.attn.scores=zero"});
  CHECK(contains(equal.output, " 0.50 0.50\n"));
  CHECK(contains(run_with("attention", {"--layer", "2"}).errors, "no such layer; expected 0 to 1"));
  CHECK(contains(run_with("attention", {"--head", "4"}).errors, "no such head; expected 0 to 3"));
}

TEST_CASE("trace --plant: a run with the bug departs from the recorded one, a sound one does not") {
  const TemporaryFolder folder;
  const std::string right = folder / "right.safetensors", first_diff = "first-diff=" + right;
  CHECK(run_with("trace", {"-o", right}).status == 0);
  const auto sound = run_with("trace", {"--stop-on", first_diff});
  CHECK(sound.status == 0);
  CHECK(contains(sound.errors, "no difference"));
  for (const char* number : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    CAPTURE(number);
    const auto planted = run_with("trace", {"--plant", number, "--stop-on", first_diff});
    CHECK(planted.status == 4);
    CHECK(contains(planted.errors, "stopped at the first difference"));
  }
  CHECK(run_with("trace", {"--plant", "9", "--text"}).status == 2);
  const auto none = run_program({"trace", "--prompt-ids", "1,2", "--plant", "4", "--text"});  // of the shipped model
  CHECK(none.status == 1);
  CHECK(contains(none.errors, "would change nothing in this model"));
}
