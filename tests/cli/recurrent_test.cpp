// Recurrent models as a user has them.
#include <filesystem>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

std::string some_text() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += std::string("the ") + (i % 2 == 0 ? "cat" : "dog") + (i % 3 == 0 ? " sat" : " ran") + " by the sun\n";
  }
  return text;
}

std::vector<std::string> command(const std::string& data, const std::string& output, const std::string& model,
                                 std::initializer_list<std::string> more) {
  std::vector<std::string> all = {"train",   data, "-o",     output, "--documents", "line",       "--layers", "2",
                                  "--width", "24", "-c",     "32",   "--batch",     "128",        "--warmup", "2",
                                  "-t",      "1",  "--rate", "0.01", "--tokenizer", "characters", "--model",  model};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("train --model lstm, and what can be done with what comes of it") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text()), model = folder / "m.gguf";
  const auto result =
      run_program(command(data, model, "lstm", {"--steps", "60", "--forget-bias", "1", "--torch", folder / "torch"}));
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  CHECK(contains(result.errors, "2 lstm layers of 24, begun uniform, forget bias 1"));
  CHECK(contains(result.output, "validation loss "));
  const auto shown = run_program({"show", model});
  CHECK(contains(shown.output, "orrery-lstm"));
  CHECK(contains(shown.output, "without end"));
  CHECK(contains(shown.output, "blk.1.cell_hh.weight"));
  const auto text = run_program({"run", model, "-p", "the ", "-n", "12", "--temp", "0", "-t", "1"});
  CHECK(text.status == 0);
  CHECK(text.output.starts_with("the "));
  const auto again = run_program({"run", folder / "torch", "-p", "the ", "-n", "12", "--temp", "0", "-t", "2"});
  CHECK(again.output == text.output);
  const auto measured = run_program({"perplexity", model, "-f", data});
  CAPTURE(measured.errors);
  CHECK(measured.status == 0);
  CHECK(run_program({"perplexity", folder / "torch", "-f", data}).output == measured.output);
  CHECK(run_program({"logits", model, "-p", "the", "--kernels", "double"}).status == 0);

  // GGUF and PyTorch's file hold the same numbers; the trace of one in double precision is rounding away from the
  // other.
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors", c = folder / "c.safetensors";
  CHECK(run_program({"trace", model, "-p", "the cat", "-o", a}).status == 0);
  CHECK(run_program({"trace", folder / "torch", "-p", "the cat", "-o", b}).status == 0);
  CHECK(run_program({"trace", model, "-p", "the cat", "--precision", "f64", "-o", c}).status == 0);
  const auto same = run_program({"trace-diff", a, b});
  CHECK(same.status == 0);
  CHECK(contains(same.output, "16 of 16 tensors agree"));
  CHECK(contains(same.output, "lstm.1.forget"));
  CHECK(run_program({"trace-diff", a, c, "-m", model}).status == 0);
  CHECK(run_program({"trace", model, "-p", "the dog", "-o", b}).status == 0);
  const auto other = run_program({"trace-diff", a, b});
  CHECK(other.status != 0);
  CHECK(contains(other.output, "first mismatch: embed"));
}

TEST_CASE("train: an interrupted recurrent model goes on as if it had not been") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  for (const std::string kind : {"lstm", "gru"}) {
    CAPTURE(kind);
    const std::string whole = folder / (kind + "-whole.gguf"), parts = folder / (kind + "-parts.gguf");
    const auto steps = [&](const std::string& output, const char* n, std::initializer_list<std::string> more) {
      std::vector<std::string> all =
          command(data, output, kind,
                  {"--steps", n, "--save-every", "4", "--dropout", "0.1", "--lowest-rate", "0.01", "--name", "same"});
      all.insert(all.end(), more.begin(), more.end());
      return run_program(all);
    };
    CHECK(steps(whole, "12", {}).status == 0);
    CHECK(steps(parts, "8", {}).status == 0);
    const auto resumed = steps(parts, "12", {"--resume"});
    CAPTURE(resumed.errors);
    CHECK(resumed.status == 0);
    CHECK(contains(resumed.errors, "goes on after step 8"));
    CHECK(file_bytes(folder / (kind + "-parts.gguf")) == file_bytes(folder / (kind + "-whole.gguf")));
  }
  const auto other = run_program(command(data, folder / "gru-parts.gguf", "gru-reset-before", {"--resume"}));
  CHECK(other.status == 1);
  CHECK(contains(other.errors, "another kind of model"));
}

TEST_CASE("train: options that fit no such model are refused before anything is read") {
  const TemporaryFolder folder;
  const std::string data = write_file(folder / "text.txt", some_text());
  const auto refused = [&](const std::string& model, std::initializer_list<std::string> more) {
    const auto result = run_program(command(data, folder / "m.gguf", model, more));
    CHECK(result.status != 0);
    CHECK(!std::filesystem::exists(folder / "m.gguf"));
    return result.errors;
  };
  CHECK(contains(refused("elman", {}), "--model"));
  CHECK(contains(refused("transformer", {"--tied"}), "for recurrent models"));
  CHECK(contains(refused("transformer", {"--torch", folder / "t"}), "for recurrent models"));
  CHECK(contains(refused("lstm", {"--torch", folder / "t", "--type", "q8_0"}), "Q8_0"));
  CHECK(contains(refused("lstm", {"--tied", "--embedding", "8"}), "another width"));
  CHECK(contains(run_program({"train", "--help"}).output, "--model lstm"));
}
