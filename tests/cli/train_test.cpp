// Training as a user does it.
#include <csignal>
#include <filesystem>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

// Lines of a little language, enough for a model of a few thousand parameters.
std::string some_text() {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += std::string("the ") +
            (i % 3 == 0   ? "cat"
             : i % 3 == 1 ? "dog"
                          : "hen") +
            (i % 2 == 0 ? " sat" : " ran") + " and the " + (i % 5 == 0 ? "sun" : "moon") + " saw it\n";
  }
  return text;
}

std::vector<std::string> command(const std::string& data, const std::string& output,
                                 std::initializer_list<std::string> more) {
  std::vector<std::string> all = {"train",    data, "-o",      output, "--documents", "line",      "--layers", "1",
                                  "--width",  "16", "--heads", "2",    "-c",          "64",        "--batch",  "128",
                                  "--warmup", "2",  "-t",      "1",    "--tokenizer", "characters"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("train: a model that runs, its history and its figure") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const auto result = run_program(command(data, folder / "m.gguf", {"--steps", "60", "--save-every", "20"}));
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  CHECK(contains(result.output, "m.gguf: validation loss "));
  CHECK(contains(result.errors, "step 20/60  loss "));
  CHECK(contains(result.errors, "validation "));
  CHECK(contains(result.errors, "tokens/s  MFU "));
  for (const char* name : {"m.gguf", "m.state.gguf", "m.csv", "m.png"}) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(folder / name));
  }
  const auto again = run_program(command(data, folder / "m.gguf", {"--steps", "1"}));
  CHECK(again.status == 1);
  CHECK(contains(again.errors, "m.state.gguf"));
  CHECK(contains(again.errors, "--overwrite"));
  const auto text = run_program({"run", folder / "m.gguf", "-p", "the", "-n", "20", "--temp", "0"});
  CHECK(text.status == 0);
  CHECK(text.output.starts_with("the"));
  CHECK(contains(run_program({"show", folder / "m.gguf"}).output, "llama"));
}

TEST_CASE("train: begins anew only where it is told to") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  CHECK(run_program(command(data, folder / "m.gguf", {"--steps", "2"})).status == 0);
  const auto anew = run_program(command(data, folder / "m.gguf", {"--steps", "3", "--overwrite"}));
  CHECK(anew.status == 0);
  CHECK(contains(anew.errors, "step 3/3"));
}

TEST_CASE("train: Ctrl-C leaves a run that goes on as if there had been no break") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const auto whole = run_program(command(data, folder / "whole.gguf", {"--steps", "400", "--name", "x"}));
  REQUIRE(whole.status == 0);
  // It may be over before the signal comes; what is compared holds for either.
  const auto stopped = run_program(command(data, folder / "m.gguf", {"--steps", "400", "--name", "x"}),
                                   {.interrupt_after_seconds = 0.6});
  CAPTURE(stopped.errors);
  const bool is_stopped = stopped.status == 130;
  CHECK((is_stopped || stopped.status == 0));
  if (is_stopped) CHECK(contains(stopped.errors, "with --resume goes on"));
  const auto resumed = run_program(command(data, folder / "m.gguf", {"--steps", "400", "--name", "x", "--resume"}));
  CAPTURE(resumed.errors);
  REQUIRE(resumed.status == 0);
  CHECK(file_bytes(folder / "m.state.gguf") == file_bytes(folder / "whole.state.gguf"));
}

TEST_CASE("train: options from a file") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const std::string config =
      write_file(folder / "run.ini",
                 "steps = 3\nlayers = 1\nwidth = 16\nheads = 2\nctx-size = 64\ndocuments = line\n"
                 "tokenizer = characters\nbatch = 128\n");
  const auto result = run_program({"train", data, "-o", folder / "m.gguf", "--config", config, "--steps", "2"});
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  CHECK(contains(result.errors, "1 layers of 16"));
  CHECK(contains(result.errors, "step 2/2"));  // the command line counts more
  const auto wrong = run_program({"train", data, "--config", write_file(folder / "bad.ini", "stepps = 3\n")});
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.errors, "stepps"));
  const auto no_option = run_program({"train", data, "--config", write_file(folder / "bad.ini", "steps = 3\n= 4\n")});
  CHECK(no_option.status == 1);
  CHECK(contains(no_option.errors, "bad.ini, line 2"));
  CHECK(run_program({"train", data, "--config", folder / "none.ini"}).status == 1);
}

TEST_CASE("train: what is wrong is said in one line") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const auto refused = [&](const std::vector<std::string>& arguments, int status, const std::string& words) {
    const auto result = run_program(arguments);
    CAPTURE(result.errors);
    CHECK(result.status == status);
    CHECK(contains(result.errors, words));
    CHECK_FALSE(std::filesystem::exists(folder / "m.gguf"));
  };
  const std::string output = folder / "m.gguf";
  refused({"train"}, 2, "data");
  refused({"train", folder / "none.txt", "-o", output}, 1, "none.txt");
  refused({"train", write_file(folder / "empty.txt", ""), "-o", output}, 1, "no text to learn from");
  refused({"train", write_file(folder / "tiny.txt", "abc"), "-o", output, "--tokenizer", "characters"}, 1,
          "too little text");
  refused(command(data, output, {"--heads", "3"}), 1, "a multiple of the heads");
  refused(command(data, output, {"--rate", "-1"}), 1, "learning rate");
  refused(command(data, output, {"--steps", "0"}), 2, "--steps");
  refused(command(data, output, {"--resume"}), 1, "m.state.gguf");
  refused(command(data, folder / "no/m.gguf", {"--steps", "2"}), 1, "no/m.");
  refused(command(data, output, {"--type", "q8_0", "--steps", "2"}), 1, "multiple of 32");
}

TEST_CASE("train-tokenizer: a tokenizer.json that train takes") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const auto result = run_program({"train-tokenizer", data, "-o", folder / "t.json", "--vocab-size", "280"});
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  CHECK(contains(result.output, "280 pieces, 23 merges"));
  const auto trained =
      run_program(command(data, folder / "m.gguf", {"--steps", "1", "--tokenizer", folder / "t.json"}));
  CAPTURE(trained.errors);
  CHECK(trained.status == 0);
  CHECK(contains(trained.errors, "280 pieces"));
  const auto ids = run_program({"tokenize", folder / "m.gguf", "-p", "the cat", "--ids", "--no-bos"});
  CHECK(ids.status == 0);
  CHECK(contains(run_program({"train-tokenizer", folder / "none"}).errors, "none"));
}
