// Folders without tokenizer.json: vocab.json, merges.txt, and what is said about added tokens elsewhere.
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "support/expect_error.h"
#include "support/families.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const char* const kVocabulary = R"({"h":0,"e":1,"he":2,"\u0120":3,"1":4,"\u0120he":5,"<|endoftext|>":6})";
const char* const kMerges = "#version: 0.2\nh e\n\u0120 he\n";

struct Fixture {
  TemporaryFolder folder;

  Fixture() {
    write("vocab.json", kVocabulary);
    write("merges.txt", kMerges);
  }
  void write(const std::string& name, const std::string& text) { write_file(folder / name, text); }
  Vocabulary load() {
    return load_checkpoint(folder.path().string(), {.needs_tokenizer = true, .needs_weights = false}).vocabulary;
  }
  std::vector<TokenId> ids(const std::string& text) {
    return make_tokenizer(load(), "folder")->encode(text, {.parse_special = true});
  }
};

using Ids = std::vector<TokenId>;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "vocab.json and merges.txt: pieces, merges, GPT-2's cutting and its one added token") {
  const Vocabulary vocabulary = load();
  CHECK(vocabulary.model == "gpt2");
  CHECK(vocabulary.pre_tokenization.name == "gpt-2");
  CHECK(vocabulary.pieces.size() == 7);
  CHECK(vocabulary.merges == std::vector<std::string_view>{"h e", "\u0120 he"});
  CHECK(vocabulary.kinds[6] == PieceKind::control);
  CHECK_FALSE(vocabulary.add_bos);
  CHECK(ids("he he<|endoftext|>11") == Ids{2, 5, 6, 4, 4});
  write("merges.txt", "h e\r\n\r\n");  // without a version, with the line ends of another system
  CHECK(load().merges == std::vector<std::string_view>{"h e"});
  CHECK(ids("he he") == Ids{2, 3, 2});
}

TEST_CASE_FIXTURE(Fixture, "vocab.json and merges.txt: added tokens, wherever they are said") {
  write("added_tokens.json", R"({"<tool>":8,"</x>":7})");
  CHECK(load().pieces.size() == 9);
  CHECK(ids("he</x><tool>") == Ids{2, 7, 8});
  write("special_tokens_map.json", R"({"eos_token":{"content":"<tool>"},"additional_special_tokens":["he","absent"]})");
  CHECK(load().kinds[2] == PieceKind::control);
  write("tokenizer_config.json",
        R"({"eos_token":"<tool>","added_tokens_decoder":{"7":{"content":"</x>","special":false},
            "9":{"content":"<new>","special":true}}})");
  const Vocabulary vocabulary = load();
  CHECK(vocabulary.kinds[7] == PieceKind::user_defined);
  CHECK(vocabulary.kinds[8] == PieceKind::control);
  CHECK(vocabulary.kinds[9] == PieceKind::control);
  CHECK(vocabulary.end_tokens == Ids{8});
}

TEST_CASE_FIXTURE(Fixture, "vocab.json and merges.txt: the class says how text is cut") {
  write("tokenizer_config.json", R"({"tokenizer_class":"Qwen2Tokenizer"})");
  CHECK(load().pre_tokenization.name == "qwen2");
  write("tokenizer_config.json", R"({"tokenizer_class":"GPT2TokenizerFast"})");
  CHECK(load().pre_tokenization.name == "gpt-2");
  write("tokenizer_config.json", R"({"tokenizer_class":"CLIPTokenizer"})");
  CHECK_ERROR(load(), "tokenizer_class", "found CLIPTokenizer");
  write("tokenizer_config.json", R"({"add_prefix_space":true})");
  CHECK_ERROR(load(), "add_prefix_space", "not supported");
  write("tokenizer_config.json", "{}");
  write("config.json", R"({"model_type":"qwen2"})");
  CHECK(load().pre_tokenization.name == "qwen2");
}

TEST_CASE_FIXTURE(Fixture, "vocab.json and merges.txt: broken files end in a sentence") {
  for (const char* line : {"h", "h e he", " e", "h ", " "}) {
    CAPTURE(std::string(line));
    write("merges.txt", std::string("#version: 0.2\nh e\n") + line + "\n");
    CHECK_ERROR(load(), "merges.txt: line 3", "two pieces with a space between");
  }
  write("merges.txt", kMerges);
  for (const char* json : {"[1]", "{}", "3", R"({"a":{"b":1}})", R"({"a":"b"})", R"({"a":-1})", R"({"a":99999999})",
                           R"({"a":1,"b":1})", "{"}) {
    CAPTURE(std::string(json));
    write("vocab.json", json);
    CHECK_ERROR(load(), "vocab.json");
  }
}

TEST_CASE_FIXTURE(Fixture, "folders: a chat template in a file of its own") {
  write("tokenizer_config.json", R"({"chat_template":"old"})");
  const auto chat_template = [&] {
    return load_checkpoint(folder.path().string(), {.needs_tokenizer = true, .needs_weights = false}).chat_template;
  };
  CHECK(chat_template() == "old");
  write("chat_template.jinja", "{{ new }}\n");
  CHECK(chat_template() == "{{ new }}\n");
}
