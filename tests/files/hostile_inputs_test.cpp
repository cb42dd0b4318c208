// Small inputs that made a reader take too much time, memory or stack, or read what it must not. Each ends at once in
// one line.
#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/tokenizer_json.h"
#include "learn/story_grammar.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "text/chat_template.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::string repeated(const std::string& text, size_t n) {
  std::string all;
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

class AtOnce {
 public:
  ~AtOnce() { CHECK(std::chrono::steady_clock::now() - start_ < std::chrono::seconds(5)); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("hostile inputs: JSON under a long key does not take the key's length for each value") {
  const AtOnce at_once;
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors", "x");
  const std::string nested = "{\"" + std::string(60'000, 'k') + "\":[" + repeated("1,", 30'000) + "1]}";
  write_file(folder / "config.json", nested);
  CHECK_ERROR(load_checkpoint(folder.path().string()), "config.json", "keys are too long for what is nested");
  CHECK_ERROR(read_tokenizer_json(write_file(folder / "tokenizer.json", nested)), "keys are too long");
  // Long keys alone do no harm.
  const std::string plain = "{\"" + std::string(60'000, 'k') + "\":1}";
  CHECK_ERROR(read_tokenizer_json(write_file(folder / "tokenizer.json", plain)), "not about bytes");
}

TEST_CASE("hostile inputs: a message has room for the beginning of what a file says") {
  const TemporaryFolder folder;
  const std::string path =
      write_file(folder / "tokenizer.json", R"({"model":{"type":")" + std::string(100'000, 'x') + "\"}}");
  const std::string message = error_of([&] { read_tokenizer_json(path); });
  CHECK(contains(message, "xxx..."));
  CHECK(message.size() < 6'000);
  const std::string found = Error({.what = "w", .found = repeated("\u4E2D", 1000)}).what();
  CHECK(found == "w; found " + repeated("\u4E2D", 166) + "...");  // cut between two characters
}

TEST_CASE("hostile inputs: a pattern that cuts characters in halves is refused") {
  const TemporaryFolder folder;
  const std::string path =
      write_file(folder / "tokenizer.json", R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
                                            R"({"type":"Split","pattern":{"Regex":"\\C"},"behavior":"Isolated"},)"
                                            R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
                                            R"("model":{"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"a"}})");
  CHECK_ERROR(make_tokenizer(read_tokenizer_json(path), path), "pattern", "cannot be used", "\\C");
}

TEST_CASE("hostile inputs: a chat template of many kilobytes is none") {
  const AtOnce at_once;
  const auto recognise = [](const std::string& jinja) {
    return recognise_chat_template(jinja, "<s>", "</s>", "m.gguf");
  };
  CHECK_ERROR(recognise(std::string(100'001, 'x')), "too long", "at most 100000 bytes", "found 100001");
  // What takes longest: many beginnings of a literal, of which none is plain.
  CHECK_ERROR(recognise(repeated("{{'<|im_start|>system\n'+x}}", 3'500)), "not known here");
  CHECK_ERROR(recognise(repeated("{{ message.content + '' }}", 3'500)), "not known here");
}

TEST_CASE("hostile inputs: grammars that grow out of all bounds") {
  const AtOnce at_once;
  const std::string begin = "language english\n\nlist a\n  x, y\n";
  std::string doubling = begin;
  for (int i = 0; i < 60; ++i) {
    const std::string before = i == 0 ? "a" : "a" + std::to_string(i);
    doubling += "list a" + std::to_string(i + 1) + " = " + before + " + " + before + "\n";
  }
  CHECK_ERROR(read_story_grammar(doubling + "rule story\n  Hi\n", "g"), "too long", "at most 10000");

  std::string deep = "language english\n\nrule story\n  <r1>\n";
  for (int i = 1; i < 5'000; ++i) deep += "rule r" + std::to_string(i) + "\n  <r" + std::to_string(i + 1) + ">\n";
  CHECK_ERROR(read_story_grammar(deep + "rule r5000\n  Hi\n", "g"), "too deep", "at most 200");
  // The same depth behind rules that have been looked at before, from the other end.
  std::string from_below = "language english\n\nrule story\n";
  for (int i = 390; i > 0; i -= 30) from_below += "  " + std::to_string(i) + "<r" + std::to_string(i) + ">\n";
  for (int i = 1; i < 400; ++i) from_below += "rule r" + std::to_string(i) + "\n  <r" + std::to_string(i + 1) + ">\n";
  CHECK_ERROR(read_story_grammar(from_below + "rule r400\n  Hi\n", "g"), "too deep");

  std::string ways = begin + "rule story\n  <r1>\n";
  for (int i = 1; i < 40; ++i) {
    const std::string next = "<r" + std::to_string(i + 1) + ">";
    ways += "rule r" + std::to_string(i) + "\n  [s" + std::to_string(i) + "=a] " + next + "\n  " + next + "\n";
  }
  CHECK_ERROR(read_story_grammar(ways + "rule r40\n  Hi\n", "g"), "too many ways");
}
