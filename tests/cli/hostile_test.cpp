// What people and strangers give instead of a model: each ends at once, in one line on standard error, with status 1.
#include <algorithm>
#include <filesystem>
#include <limits>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "files/gguf_builder.h"
#include "support/files.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");
const std::string kBin = data_file("tiny-models/l2c/valid_v0_tied.bin");
constexpr uint64_t kFourGigabytes = uint64_t{4} << 30;

bool has_control_character(const std::string& text) {
  if (text.find("\xC2\x9B") != std::string::npos) return true;  // U+009B begins an escape sequence too
  return std::ranges::any_of(text,
                             [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F; });
}

void check_refused(const std::vector<std::string>& arguments, const std::string& words) {
  CAPTURE(arguments.back());
  // A reader that believes a file's numbers would take more than this.
  const auto result = run_program(arguments, {.address_space = can_limit_address_space() ? 512u << 20 : 0});
  CAPTURE(result.errors);
  CHECK(result.status == 1);
  CHECK(std::ranges::count(result.errors, '\n') == 1);
  CHECK(result.errors.starts_with("orrery: "));
  CHECK(result.errors.find(words) != std::string::npos);
  CHECK_FALSE(has_control_character(result.errors));
}

// A folder with a good model in it, in which one file is something else.
struct ModelFolder {
  TemporaryFolder folder;
  ModelFolder() {
    std::filesystem::copy(data_file("tiny-models/st/valid_base"), folder.path(),
                          std::filesystem::copy_options::recursive);
  }
  std::string path() const { return folder.path().string(); }
  std::string without(const std::string& name) const {
    std::filesystem::remove_all(folder / name);
    return folder / name;
  }
};

}  // namespace

TEST_CASE("hostile: things that are no files are refused as models and as tokenizers") {
  const TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", folder / "loop");
  const std::string empty = write_file(folder / "empty", "");
  for (const char* verb : {"run", "show", "tokenize", "logits", "perplexity"}) {
    CAPTURE(verb);
    check_refused({verb, fifo}, "not a regular file");
    check_refused({verb, "/dev/zero"}, "not a regular file");
    check_refused({verb, "/dev/null"}, "not a regular file");
    check_refused({verb, folder / "loop"}, "cannot open");
    check_refused({verb, empty}, "the file is empty");
    check_refused({verb, folder.path().string()}, "no config.json");
  }
  check_refused({"tokenize", kBin, "-p", "a", "--tokenizer", fifo}, "not a regular file");
  check_refused({"tokenize", kBin, "-p", "a", "--tokenizer", "/dev/zero"}, "not a regular file");
  check_refused({"tokenize", kBin, "-p", "a", "--tokenizer", empty}, "the file is empty");
  check_refused({"tokenize", kBin, "-p", "a", "--tokenizer", folder.path().string()}, "not a regular file");
  check_refused({"tokenize", kModel, "-f", "/dev/zero"}, "there is too much of it");
  check_refused({"tokenize", kModel, "-f", folder.path().string()}, "cannot read");
}

TEST_CASE("hostile: files of a folder that are no files") {
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json"}) {
    CAPTURE(name);
    const ModelFolder model;
    CHECK(run_program({"show", model.path()}).status == 0);
    const std::string path = model.without(name);
    std::filesystem::create_directory(path);
    check_refused({"run", model.path()}, "not a regular file");
    std::filesystem::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    check_refused({"run", model.path()}, "not a regular file");
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    check_refused({"run", model.path()}, "not a regular file");
    std::filesystem::remove(path);
    write_file(path, "");
    check_refused({"run", model.path()}, "the file is empty");
    // A symbolic link to the right thing is fine: download caches are full of them.
    std::filesystem::remove(path);
    std::filesystem::create_symlink(data_file("tiny-models/st/valid_base/") + name, path);
    CHECK(run_program({"show", model.path()}).status == 0);
  }
}

TEST_CASE("doctor gives the checksum of every file of a folder") {
  const auto result = run_program({"doctor", "-m", data_file("tiny-models/st/valid_base")});
  CAPTURE(result.errors);
  CHECK(result.status == 0);
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json"}) {
    CHECK(result.output.find(std::string("  ") + name + "\n") != std::string::npos);
  }
}

TEST_CASE("hostile: names, keys and pieces never reach a terminal as they are") {
  const std::string evil =
      "x\x1B[2J\x07\r\xC2\x9B"
      "31m";
  GgufBuilder builder = tiny_llama({"token_embd.weight"});
  builder.text("general.name", evil).text("key " + evil, evil).texts("texts", {evil});
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"<unk>", evil, "a" + evil});
  builder.array("tokenizer.ggml.scores", kFloat32, 3, raw(0.f) + raw(-1.f) + raw(-2.f));
  builder.array("tokenizer.ggml.token_type", kInt32, 3, raw(2) + raw(1) + raw(3));
  builder.number("tokenizer.ggml.bos_token_id", 1).number("tokenizer.ggml.eos_token_id", 2);
  builder.text("tokenizer.chat_template", evil);
  builder.tensor_with_data("token_embd.weight", {2, 3}, kF32, std::string(24, '\0'));
  builder.tensor_with_data("extra " + evil, {2}, kF32, std::string(8, '\0'));
  const TemporaryFolder folder;
  const std::string path = write_file(folder / ("m" + evil + ".gguf"), builder.bytes());
  const std::string out = folder / ("out" + evil + ".gguf");
  const std::vector<std::vector<std::string>> commands = {{"show", path, "--metadata"},
                                                          {"doctor", "-m", path},
                                                          {"tokenize", path, "-p", "a b"},
                                                          {"tokenize", path, "-p", "a b", "--steps"},
                                                          {"logits", path, "-p", "a"},
                                                          {"run", path, "-p", "a", "-n", "0", "--verbose-prompt"},
                                                          {"bench", path, "-p", "2", "-n", "1", "-r", "1"},
                                                          {"perplexity", path, "-p", "a a a a"},
                                                          {"chat", path},
                                                          {"bench", "--shape", evil},
                                                          {"stories", "--check", path},
                                                          {"train", path, "-o", out},
                                                          {"eval", path, "--pairs", path},
                                                          {evil}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    const auto result = run_program(command);
    CAPTURE(result.errors);
    CHECK(result.status < 3);
    const bool is_text = command.front() == "run";  // what a model says goes out as it is
    CHECK_FALSE(has_control_character(result.errors));
    if (!is_text) CHECK_FALSE(has_control_character(result.output));
    CHECK((result.errors + result.output).size() > 10);
  }
  const auto shown = run_program({"show", path, "--metadata"});
  CHECK(shown.status == 0);
  CHECK(shown.output.find("key x\\x1B[2J") != std::string::npos);
  CHECK(shown.output.find("extra x\\x1B[2J") != std::string::npos);
}

TEST_CASE("hostile: weights that are not finite are shown, and computing with them ends in one line") {
  std::string bytes = file_bytes(kModel);
  constexpr size_t kData = 9216;
  for (size_t at = kData; at + 4 <= bytes.size(); at += 4)
    bytes.replace(at, 4, raw(std::numeric_limits<float>::quiet_NaN()));
  const TemporaryFolder folder;
  const std::string path = write_file(folder / "nan.gguf", bytes);
  CHECK(run_program({"show", path}).status == 0);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"run", path, "--no-display-prompt", "-p", "a", "-n", "4", "-s", "1"},
           {"run", path, "--no-display-prompt", "-p", "a", "-n", "4", "--temp", "0"},
           {"run", path, "--no-display-prompt", "-p", "a", "-n", "4", "--top-k", "0", "--top-p", "1", "--min-p", "0"},
           {"logits", path, "-p", "a"},
           {"logits", path, "-p", "a", "--json"},
           {"perplexity", path, "-p", "a b c d e f"}}) {
    CAPTURE(command.front());
    const auto result = run_program(command);
    CAPTURE(result.errors);
    CHECK(result.status == 1);
    CHECK(result.output.empty());
    CHECK(result.errors.find("not finite: the model or its file is broken") != std::string::npos);
  }
}

TEST_CASE("hostile: a limit of 4 GiB of address space changes nothing") {
  const ProgramInput limited = {.address_space = can_limit_address_space() ? kFourGigabytes : 0};
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run", kModel, "-p", "a b", "-n", "8", "-s", "1"},
                                             {"run", kBin, "-p", "a b", "-n", "8", "-s", "1", "-t", "16"},
                                             {"show", data_file("tiny-models/st/valid_base")}}) {
    const auto free = run_program(command);
    const auto result = run_program(command, limited);
    CAPTURE(result.errors);
    CHECK(result.status == 0);
    CHECK(result.output == free.output);
  }
  if (!can_limit_address_space()) return;
  // Threads that do not fit: a line, not an abort.
  const auto result = run_program({"run", kModel, "-p", "a", "-n", "2", "-t", "512"}, {.address_space = 1u << 30});
  CAPTURE(result.errors);
  CHECK(result.status == 1);
  CHECK(result.errors.find("cannot start another thread") != std::string::npos);
  CHECK(result.errors.find("--threads") != std::string::npos);
}
