// The verbs about text and files.
#include <doctest/doctest.h>

#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");

}  // namespace

TEST_CASE("tokenize and detokenize are each other's inverse") {
  const std::string text = " hello  wörld\n\xF0\x9F\x8C\x8D ";
  const auto ids = run_program({"tokenize", kModel, "-p", text, "--ids"});
  CHECK(ids.status == 0);
  CHECK(ids.output.starts_with("[1, "));
  const auto back = run_program({"detokenize", kModel, "--ids", ids.output});
  CHECK(back.output == text + "\n");
  const auto without = run_program({"tokenize", kModel, "-p", text, "--ids", "--no-bos"});
  CHECK("[1, " + without.output.substr(1) == ids.output);
  const auto lines = run_program({"tokenize", kModel, "-p", text});
  CHECK(lines.output.starts_with("       1  '<s>'\n"));
}

TEST_CASE("tokenize takes special tokens only where asked, and shows its steps") {
  CHECK(run_program({"tokenize", kModel, "-p", "</s>", "--ids", "--special", "--no-bos"}).output == "[2]\n");
  CHECK(run_program({"tokenize", kModel, "-p", "</s>", "--ids", "--no-bos"}).output != "[2]\n");
  const auto steps = run_program({"tokenize", kModel, "-p", "the", "--steps"});
  CHECK(steps.status == 0);
  CHECK(steps.output.starts_with("characters: '\xE2\x96\x81' 't' 'h' 'e'\n"));
}

TEST_CASE("show prints config, memory, tokenizer and tensors") {
  const auto result = run_program({"show", kModel, "--metadata"});
  CHECK(result.status == 0);
  for (const char* words : {"GGUF v3", "layers                2", "KV cache in F16", "SentencePiece BPE", "1 '<s>'",
                            "blk.1.ffn_down.weight", "general.architecture = llama"}) {
    CAPTURE(words);
    CHECK(result.output.find(words) != std::string::npos);
  }
}

TEST_CASE("doctor names the build, the machine and the file") {
  const auto result = run_program({"doctor", "-m", kModel});
  CHECK(result.status == 0);
  for (const char* words : {"OpenMP", "BLAS", "instructions", "memory", "SHA-256", "ends with       2 '</s>'"}) {
    CAPTURE(words);
    CHECK(result.output.find(words) != std::string::npos);
  }
}
