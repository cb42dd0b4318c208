#include "files/tokenizer_json.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;
using Json = nlohmann::ordered_json;

namespace {

// A vocabulary with everything in it that the file can say.
ByteLevelBuilder rich_vocabulary() {
  ByteLevelBuilder builder;
  builder.merge("a", "b");
  builder.merge(" ", "ab");
  builder.merge("\xE4", "\xB8");
  builder.vocabulary().bos = builder.add("<s>", PieceKind::control);
  builder.vocabulary().end_tokens = {builder.add("</s>", PieceKind::control)};
  builder.add("<tool \"1\">", PieceKind::user_defined);
  builder.vocabulary().unknown = builder.add("<unk>", PieceKind::unknown);
  builder.vocabulary().add_bos = builder.vocabulary().add_eos = true;
  builder.vocabulary().pre_tokenization = pre_tokenization_named("qwen2");
  return builder;
}

void check_same(const Vocabulary& a, const Vocabulary& b) {
  CHECK(a.model == b.model);
  CHECK(a.pieces == b.pieces);
  CHECK(a.kinds == b.kinds);
  CHECK(a.merges == b.merges);
  CHECK(a.bos == b.bos);
  CHECK(a.unknown == b.unknown);
  CHECK(a.end_tokens == b.end_tokens);
  CHECK(a.add_bos == b.add_bos);
  CHECK(a.add_eos == b.add_eos);
  CHECK(a.pre_tokenization.name == b.pre_tokenization.name);
  CHECK(a.pre_tokenization.patterns == b.pre_tokenization.patterns);
  CHECK(a.pre_tokenization.nfc == b.pre_tokenization.nfc);
  CHECK(a.pre_tokenization.ignore_merges == b.pre_tokenization.ignore_merges);
}

Json written(const Vocabulary& vocabulary) {
  const TemporaryFolder folder;
  write_tokenizer_json(folder / "tokenizer.json", vocabulary);
  return Json::parse(file_bytes(folder / "tokenizer.json"));
}

Vocabulary read_text(const std::string& text) {
  const TemporaryFolder folder;
  return read_tokenizer_json(write_file(folder / "tokenizer.json", text));
}

// A small file; `change` makes of it what a test is about.
template <class Change>
Vocabulary read_changed(const Change& change) {
  Json file = Json::parse(R"({
    "added_tokens": [{"id": 2, "content": "<s>", "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "post_processor": null,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "<s>": 2, "ab": 3}, "merges": ["a b"]}
  })");
  change(file);
  return read_text(file.dump());
}

}  // namespace

TEST_CASE("tokenizer.json: what is written is what Hugging Face's tokenizers read") {
  ByteLevelBuilder builder = rich_vocabulary();
  Vocabulary& vocabulary = builder.vocabulary();
  const Json file = written(vocabulary);
  CHECK(file["version"] == "1.0");
  CHECK(file["added_tokens"].size() == 4);
  CHECK(file["added_tokens"][2]["content"] == "<tool \"1\">");
  CHECK(file["added_tokens"][2]["special"] == false);
  CHECK(file["added_tokens"][0] == Json::parse(R"({"id": 259, "content": "<s>", "single_word": false, "lstrip": false,
      "rstrip": false, "normalized": false, "special": true})"));
  CHECK(file["normalizer"] == Json::parse(R"({"type": "NFC"})"));
  CHECK(file["pre_tokenizer"]["type"] == "Sequence");
  CHECK(file["pre_tokenizer"]["pretokenizers"].size() == 2);
  CHECK(file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] == vocabulary.pre_tokenization.patterns[0]);
  CHECK(file["pre_tokenizer"]["pretokenizers"][1]["use_regex"] == false);
  CHECK(file["post_processor"]["type"] == "TemplateProcessing");
  CHECK(file["post_processor"]["single"].size() == 3);
  CHECK(file["post_processor"]["pair"].size() == 6);
  CHECK(file["post_processor"]["special_tokens"]["<s>"]["ids"] == Json::parse("[259]"));
  CHECK(file["decoder"]["type"] == "ByteLevel");
  CHECK(file["model"]["type"] == "BPE");
  CHECK(file["model"]["unk_token"] == "<unk>");
  CHECK(file["model"]["merges"] == Json::parse(R"(["a b", "Ġ ab", "ä ¸"])"));
  CHECK(file["model"]["vocab"].size() == vocabulary.pieces.size());
  size_t id = 0;
  for (const auto& [piece, value] : file["model"]["vocab"].items()) {
    CHECK(piece == vocabulary.pieces[id]);
    CHECK(value == id++);
  }

  vocabulary.add_bos = vocabulary.add_eos = false;
  vocabulary.pre_tokenization = pre_tokenization_named("gpt-2");
  const Json plain = written(vocabulary);
  CHECK(plain["normalizer"].is_null());
  CHECK(plain["post_processor"]["type"] == "ByteLevel");
  CHECK(plain["pre_tokenizer"] ==
        Json::parse(R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})"));
}

TEST_CASE("tokenizer.json: written and read again it is the same") {
  ByteLevelBuilder builder = rich_vocabulary();
  for (const PreTokenization& rules : known_pre_tokenizations()) {
    if (name_of(rules) != rules.name) continue;
    CAPTURE(rules.name);
    builder.vocabulary().pre_tokenization = rules;
    check_same(read_text(written(builder.vocabulary()).dump()), builder.vocabulary());
  }
}

TEST_CASE("tokenizer.json: what cannot be written is refused, and leaves no file behind") {
  const TemporaryFolder folder;
  ByteLevelBuilder builder = rich_vocabulary();
  builder.vocabulary().pre_tokenization.patterns.clear();
  CHECK_ERROR(write_tokenizer_json(folder / "t.json", builder.vocabulary()), "t.json", "how text is cut");
  builder = rich_vocabulary();
  builder.vocabulary().model = "llama";
  CHECK_ERROR(write_tokenizer_json(folder / "t.json", builder.vocabulary()), "only byte-level BPE", "'llama'");
  builder = rich_vocabulary();
  builder.add("ab");
  CHECK_ERROR(write_tokenizer_json(folder / "t.json", builder.vocabulary()), "two tokens", "'ab'");
  builder = rich_vocabulary();
  builder.add("\xFF");
  CHECK_ERROR(write_tokenizer_json(folder / "t.json", builder.vocabulary()), "cannot be written as JSON");
  builder = rich_vocabulary();
  builder.vocabulary().bos = 10'000;
  CHECK_ERROR(write_tokenizer_json(folder / "t.json", builder.vocabulary()), "BOS token is not in the vocabulary");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("tokenizer.json: the ways in which files say things") {
  const auto pre = [](const char* text) {
    return read_changed([&](Json& file) { file["pre_tokenizer"] = Json::parse(text); }).pre_tokenization.patterns;
  };
  using Patterns = std::vector<std::string>;
  const std::string bytes = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";
  const auto sequence = [&](const std::string& first) {
    return pre((R"({"type": "Sequence", "pretokenizers": [)" + first + ", " + bytes + "]}").c_str());
  };
  CHECK(pre(R"({"type": "ByteLevel", "add_prefix_space": false})") == pre_tokenization_named("gpt-2").patterns);
  CHECK(sequence(R"({"type": "Digits", "individual_digits": true})") == Patterns{"\\p{N}"});
  CHECK(sequence(R"({"type": "Digits", "individual_digits": false})") == Patterns{"\\p{N}+"});
  CHECK(sequence(R"({"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": false})") ==
        Patterns{"a+"});
  CHECK(sequence(R"({"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Removed", "invert": true})") ==
        Patterns{"a+"});
  CHECK(sequence(R"({"type": "Split", "pattern": {"String": "a.b"}, "behavior": "Isolated"})") == Patterns{"a\\.b"});
  CHECK(pre(bytes.c_str()) == Patterns{"(?s).+"});

  const Vocabulary pairs =
      read_changed([](Json& file) { file["model"]["merges"] = Json::parse(R"([["a", "b"], ["ab", "b"]])"); });
  CHECK(pairs.merges == std::vector<std::string_view>{"a b", "ab b"});
  const Vocabulary gap =
      read_changed([](Json& file) { file["added_tokens"][0]["id"] = 5, file["model"]["vocab"].erase("<s>"); });
  CHECK(gap.pieces.size() == 6);
  CHECK(gap.kinds[4] == PieceKind::unused);
  CHECK(gap.kinds[5] == PieceKind::control);
  CHECK(gap.pieces[3] == "ab");
  const Vocabulary nfc = read_changed([](Json& file) {
    file["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}]})");
  });
  CHECK(nfc.pre_tokenization.nfc);
  CHECK(nfc.pre_tokenization.name.empty());  // GPT-2's way with NFC has no name in GGUF
  CHECK(make_tokenizer(nfc, "test")->encode("ab") == std::vector<TokenId>{3});
}

TEST_CASE("tokenizer.json: what would give other ids is refused") {
  const auto error = [](const char* pointer, const char* value) {
    return error_of([&] { read_changed([&](Json& file) { file[Json::json_pointer(pointer)] = Json::parse(value); }); });
  };
  const struct {
    const char* pointer;
    const char* value;
    const char* message;
  } cases[] = {
      {"/model/type", "\"Unigram\"", "Unigram is not supported"},
      {"/model/type", "3", "model/type: the value is not text"},
      {"/model/byte_fallback", "true", "SentencePiece"},
      {"/model/end_of_word_suffix", "\"</w>\"", "marks on pieces"},
      {"/model/merges", "[[\"a\"]]", "a merge is neither"},
      {"/model/merges", "[[\"a\", \"b\", \"c\"]]", "a merge is neither"},
      {"/model/merges", "[[\"a\", \"b c\"]]", "a merge is neither"},
      {"/model/merges", "[null]", "a merge is neither"},
      {"/model/merges", "[[\"a\", [\"b\"]]]", "something nested"},
      {"/model/merges", "[{\"a\": \"b\"}]", "something nested"},
      {"/model/vocab", "{\"a\": {}}", "something nested"},
      {"/model/vocab", "{\"a\": \"0\"}", "not an integer"},
      {"/model/vocab", "{\"a\": null}", "not an integer"},
      {"/model/vocab", "{\"a\": 1.5}", "not an integer"},
      {"/model/vocab", "{\"a\": -1}", "makes no sense"},
      {"/model/vocab", "{\"a\": 1000000000}", "makes no sense"},
      {"/model/vocab", "{\"a\": 99999999999999999999}", "not an integer"},
      {"/model/vocab", "{\"a\": 0, \"b\": 0}", "two tokens have the same id"},
      {"/added_tokens/0/id", "1", "two ids"},
      {"/added_tokens/0/id", "null", "missing"},
      {"/added_tokens/0/lstrip", "true", "lstrip: added tokens of this sort"},
      {"/added_tokens/0/special", "\"yes\"", "not true or false"},
      {"/normalizer", "{\"type\": \"Lowercase\"}", "Lowercase is not supported"},
      {"/normalizer", "[]", "this is not supported"},
      {"/pre_tokenizer", "null", "not about bytes"},
      {"/pre_tokenizer", "{\"type\": \"Metaspace\"}", "Metaspace is not supported"},
      {"/pre_tokenizer", "{\"type\": \"ByteLevel\"}", "with a space before the text"},
      {"/pre_tokenizer", "{\"type\": \"Split\", \"behavior\": \"MergedWithNext\"}", "behavior MergedWithNext"},
      {"/pre_tokenizer", "{\"type\": \"Split\", \"behavior\": \"Isolated\"}", "pattern is missing"},
      {"/pre_tokenizer/type", "\"Digits\"", "not about bytes"},
      {"/post_processor", "{\"type\": \"BertProcessing\"}", "BertProcessing is not supported"},
      {"/post_processor", "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"x\"}}]}",
       "not in the vocabulary"},
      {"/post_processor",
       "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\"}}, "
       "{\"SpecialToken\": {\"id\": \"<s>\"}}]}",
       "more than one token"},
  };
  for (const auto& c : cases) {
    const std::string message = error(c.pointer, c.value);
    CAPTURE(std::string(c.pointer) + " = " + c.value);
    CAPTURE(message);
    CHECK(contains(message, c.message));
    CHECK(contains(message, "tokenizer.json"));
  }
}

TEST_CASE("tokenizer.json: broken and hostile files end in one sentence") {
  CHECK_ERROR(read_text("{"), "broken JSON at byte");
  CHECK_ERROR(read_text("{\"a\": \"\xFF\"}"), "broken JSON");
  CHECK_ERROR(read_text("{} {}"), "broken JSON");
  CHECK_ERROR(read_text("[1, 2]"), "not about bytes");
  CHECK_ERROR(read_text("3"), "not about bytes");
  CHECK_ERROR(read_text("{\"model\": {}, \"model\": {}}"), "model: the key is there twice");
  CHECK_ERROR(read_text("{\"model\": {\"vocab\": {\"a\": 0, \"a\": 1}}}"), "not about bytes");
  CHECK_ERROR(read_text(std::string(100'000, '[')), "nested too deep");
  std::string wide = "[";
  for (int i = 0; i < 1'100'000; ++i) wide += "1,";
  CHECK_ERROR(read_text(wide + "1]"), "too many values");
  CHECK_ERROR(read_tokenizer_json("no/such/tokenizer.json"), "no/such/tokenizer.json");
}

TEST_CASE("tokenizer.json: a damaged file gives a tokenizer that works, or an error") {
  ByteLevelBuilder builder = rich_vocabulary();
  builder.vocabulary().pre_tokenization = pre_tokenization_named("gpt-2");
  const std::string whole = written(builder.vocabulary()).dump();
  const TemporaryFolder folder;
  Random random(40);
  int n_errors = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = whole;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) {
      const size_t at = random.below(text.size());
      switch (random.below(3)) {
        case 0: text[at] = static_cast<char>(random.below(256)); break;
        case 1: text.erase(at, 1 + random.below(20)); break;
        default: text.insert(at, text.substr(random.below(text.size()), 1 + random.below(20)));
      }
    }
    const std::string path = write_file(folder / "tokenizer.json", text);
    n_errors +=
        error_of([&] { make_tokenizer(read_tokenizer_json(path), path)->encode("ab \u4E2D<s>"); }).empty() ? 0 : 1;
  }
  CHECK(n_errors > 500);
  CHECK(n_errors < 1000);
}
