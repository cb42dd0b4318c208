// Checks on real vocabularies and texts; ORRERY_DATA is the folder they are in.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "data/public_data.h"
#include "files/checkpoint.h"
#include "files/tokenizer_json.h"
#include "learn/bpe_trainer.h"
#include "support/files.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

using namespace orrery;
using test::data_path;

namespace {

std::string data_text(const std::string& name) { return read_file(data_path(name), 1 << 26); }

struct Loaded {
  Checkpoint checkpoint;
  std::unique_ptr<Tokenizer> tokenizer;
};

Loaded load_tokenizer(const std::string& name) {
  LoadOptions options;
  options.needs_weights = false;
  Loaded loaded = {load_checkpoint(data_path(name), options), nullptr};
  loaded.tokenizer = make_tokenizer(loaded.checkpoint.vocabulary, name);
  return loaded;
}

// What stands between the marks; n marks give n + 1 texts.
std::vector<std::string> split(const std::string& text, std::string_view mark) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find(mark, begin)) != std::string::npos; begin = end + mark.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<TokenId> ids_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<TokenId> ids;
  for (TokenId id; words >> id;) ids.push_back(id);
  return ids;
}

// llama.cpp's 47 test strings and the ids that it states for them.
void check_strings(const Tokenizer& tokenizer, const std::string& ids) {
  const std::vector<std::string> strings = split(data_text("ggml-vocab/strings.inp"), "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = split(data_text("ggml-vocab/" + ids), "\n");
  REQUIRE(strings.size() == 47);
  REQUIRE(lines.size() == strings.size());
  for (size_t i = 0; i < strings.size(); ++i) {
    CAPTURE(strings[i]);
    CHECK(tokenizer.encode(strings[i], {.bos = false}) == ids_of(lines[i]));
    CHECK(tokenizer.decode(ids_of(lines[i])) == strings[i]);
  }
}

// The files of udhr that encode and decode do not give back as they are.
std::vector<std::string> changed_languages(const Tokenizer& tokenizer) {
  const std::filesystem::path folder = data_path("udhr");
  REQUIRE_MESSAGE(std::filesystem::is_directory(folder), folder.string(), " is missing");
  int n_files = 0;
  std::vector<std::string> changed;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    ++n_files;
    const std::string text = data_text("udhr/" + entry.path().filename().string());
    const std::string decoded = tokenizer.decode(tokenizer.encode(text));
    if (decoded == text) continue;
    changed.push_back(entry.path().stem().string());
    CHECK(tokenizer.decode(tokenizer.encode(decoded)) == decoded);
  }
  CHECK(n_files == 24);
  std::sort(changed.begin(), changed.end());
  return changed;
}

}  // namespace

TEST_CASE("Phi-3: the ids of llama.cpp's 47 test strings, and 24 languages unchanged") {
  const Loaded phi = load_tokenizer("ggml-vocab/ggml-vocab-phi-3.gguf");
  check_strings(*phi.tokenizer, "ggml-vocab-phi-3.gguf.out");
  CHECK(changed_languages(*phi.tokenizer).empty());
}

TEST_CASE("GPT-2: the ids of llama.cpp's 47 test strings, and 24 languages unchanged") {
  const Loaded gpt2 = load_tokenizer("ggml-vocab/ggml-vocab-gpt-2.gguf");
  check_strings(*gpt2.tokenizer, "ggml-vocab-gpt-2.gguf.out");
  CHECK(changed_languages(*gpt2.tokenizer).empty());
}

TEST_CASE("GPT-2: OpenAI's own files say the same as the GGUF file, also as tokenizer.json") {
  const Loaded gpt2 = load_tokenizer("ggml-vocab/ggml-vocab-gpt-2.gguf");
  const test::TemporaryFolder folder;
  write_tokenizer_json(folder / "tokenizer.json", gpt2.checkpoint.vocabulary);
  const auto written = nlohmann::json::parse(test::file_bytes(folder / "tokenizer.json"));
  CHECK(written["model"]["vocab"] == nlohmann::json::parse(data_text("gpt2-tokenizer/vocab.json")));
  std::vector<std::string> merges = split(data_text("gpt2-tokenizer/merges.txt"), "\n");
  REQUIRE(merges.size() == 50'002);
  merges.erase(merges.begin());  // the version
  merges.pop_back();             // the last newline ends a line
  CHECK(written["model"]["merges"] == merges);
  check_strings(*make_tokenizer(read_tokenizer_json(folder / "tokenizer.json"), "GPT-2"), "ggml-vocab-gpt-2.gguf.out");
}

TEST_CASE("GPT-2: a folder with nothing but vocab.json and merges.txt gives the same ids") {
  const Loaded gpt2 = load_tokenizer("gpt2-tokenizer");
  check_strings(*gpt2.tokenizer, "ggml-vocab-gpt-2.gguf.out");
  CHECK(gpt2.tokenizer->encode("a<|endoftext|>", {.parse_special = true}) == std::vector<TokenId>{64, 50256});
  CHECK(gpt2.tokenizer->encode("a<|endoftext|>").size() > 2);
}

TEST_CASE("Qwen3: the ids of llama.cpp's 47 test strings, and 24 languages in their NFC form") {
  const Vocabulary vocabulary = read_tokenizer_json(data_path("qwen3-tokenizer/tokenizer.json"));
  CHECK(vocabulary.pieces.size() == 151'669);
  CHECK(vocabulary.pre_tokenization.name == "qwen2");
  const auto qwen = make_tokenizer(vocabulary, "Qwen3");
  check_strings(*qwen, "ggml-vocab-qwen2.gguf.out");
  CHECK(changed_languages(*qwen) == std::vector<std::string>{"ben", "hin", "tam", "vie"});
  CHECK(qwen->encode("<|im_start|>x<think>", {.parse_special = true}) == std::vector<TokenId>{151644, 87, 151667});
  CHECK(qwen->encode("<think>") == std::vector<TokenId>{151667});  // user-defined
}

// The ids are those of the npm package @lenml/tokenizers 3.7.2 for the text that Jinja2 3.1.2 makes of the template.
TEST_CASE("Qwen3: a conversation by its own template") {
  const auto config = nlohmann::json::parse(data_text("qwen3-tokenizer/tokenizer_config.json"));
  const ChatTemplate chat_template = recognise_chat_template(config["chat_template"].get<std::string>(), "",
                                                             config["eos_token"].get<std::string>(), "Qwen3");
  CHECK(chat_template.name == "ChatML");
  CHECK_FALSE(chat_template.default_system.has_value());
  const auto qwen = make_tokenizer(read_tokenizer_json(data_path("qwen3-tokenizer/tokenizer.json")), "Qwen3");
  const std::vector<ChatMessage> messages = {
      {ChatRole::system, "Be brief."},
      {ChatRole::user, "\nWhat is 1+1?"},
      {ChatRole::assistant, "<think>\nEasy.\n</think>\n\nTwo, \xE4\xBA\x8C."},
      {ChatRole::user, "And 2+2? "},
  };
  const auto parts = chat_template.render(messages, true);
  const AddedTokens added(qwen->vocabulary());
  CHECK(encode_chat(*qwen, added, parts) ==
        std::vector<TokenId>{151644, 8948, 198,   3430, 9814,   13,  151645, 198,   151644, 872,   271, 3838,
                             374,    220,  16,    10,   16,     30,  151645, 198,   151644, 77091, 198, 11613,
                             11,     220,  40820, 13,   151645, 198, 151644, 872,   198,    3036,  220, 17,
                             10,     17,   30,    220,  151645, 198, 151644, 77091, 198});
}

TEST_CASE("Mistral: the folder's tokenizer, and 24 languages unchanged") {
  const Loaded mistral = load_tokenizer("mistral-tokenizer");
  const Vocabulary& vocabulary = mistral.checkpoint.vocabulary;
  CHECK(vocabulary.pieces.size() == 32'000);
  CHECK(vocabulary.bos == 1);
  CHECK(vocabulary.add_bos);
  CHECK(vocabulary.add_space_prefix);
  // Known ids of this vocabulary; BOS comes from the post-processor.
  CHECK(mistral.tokenizer->encode("Hello") == std::vector<TokenId>{1, 22557});
  CHECK(mistral.tokenizer->encode("Hello, world!", {.bos = false}) == std::vector<TokenId>{22557, 28725, 1526, 28808});
  CHECK(changed_languages(*mistral.tokenizer).empty());

  // Without the merges, by the scores that stand for them: the same on any usual text.
  Vocabulary scored = vocabulary;
  scored.merges.clear();
  const auto by_score = make_tokenizer(scored, "Mistral by scores");
  for (const char* language : {"eng", "deu_1901", "hin", "jpn", "rus"}) {
    CAPTURE(std::string(language));
    const std::string text = data_text("udhr/" + std::string(language) + ".txt");
    CHECK(by_score->encode(text) == mistral.tokenizer->encode(text));
  }
}

TEST_CASE("BPE training gives the 243 merges and the vocabulary of the reference") {
  const std::string text = data_text("bpe-training/corpus.en");
  const std::string_view view = text;
  const Vocabulary vocabulary = train_bpe({&view, 1}, {.vocabulary_size = 500});
  std::string merges;
  for (const std::string_view merge : vocabulary.merges) merges.append(merge).append("\n");
  CHECK(vocabulary.merges.size() == 243);
  CHECK(merges == data_text("bpe-training/train-bpe-reference-merges.txt"));
  const auto expected = nlohmann::json::parse(data_text("bpe-training/train-bpe-reference-vocab.json"));
  CHECK(expected.size() == vocabulary.pieces.size());
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    CHECK(expected.value(std::string(vocabulary.pieces[id]), -1) == static_cast<int>(id));
  }
}
