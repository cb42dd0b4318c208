// tokenizer.json with SentencePiece's BPE, as Llama 2, TinyLlama and Mistral have it.
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "files/checkpoint.h"
#include "files/tokenizer_json.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string kFolder = "tiny-models/st/valid_base";

template <class Change>
Vocabulary read_changed(const Change& change) {
  Json file = Json::parse(file_bytes(data_file(kFolder + "/tokenizer.json")));
  change(file);
  const TemporaryFolder folder;
  return read_tokenizer_json(write_file(folder / "tokenizer.json", file.dump()));
}

}  // namespace

TEST_CASE("SentencePiece's tokenizer.json: the vocabulary and the ids of the GGUF file") {
  const Vocabulary folder = load_checkpoint(data_file(kFolder)).vocabulary;
  const Checkpoint gguf = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  CHECK(folder.model == "llama");
  CHECK(folder.pieces == gguf.vocabulary.pieces);
  CHECK(folder.kinds == gguf.vocabulary.kinds);
  CHECK(folder.bos == 1);
  CHECK(folder.add_bos);
  CHECK(folder.add_space_prefix);
  CHECK(folder.unknown == 0);
  CHECK(folder.end_tokens == std::vector<TokenId>{2});  // config.json
  const auto ours = make_tokenizer(folder, "folder");
  const auto theirs = make_tokenizer(gguf.vocabulary, "gguf");
  Vocabulary scores = folder;
  scores.merges.clear();
  const auto by_scores = make_tokenizer(scores, "scores");
  for (const char* text :
       {"", " ", "once hello in the land", "  two    spaces", "caf\u00E9 \u4E2D\xFF", "<s>hi", "\n\n"}) {
    for (const bool parse_special : {false, true}) {
      CAPTURE(std::string(text));
      const auto ids = theirs->encode(text, {.parse_special = parse_special});
      CHECK(ours->encode(text, {.parse_special = parse_special}) == ids);
      CHECK(by_scores->encode(text, {.parse_special = parse_special}) == ids);
      CHECK(ours->decode(ids) == theirs->decode(ids));
    }
  }
}

TEST_CASE("SentencePiece's tokenizer.json: a space before the text or not") {
  CHECK_FALSE(
      read_changed([](Json& file) { file["normalizer"] = file["normalizer"]["normalizers"][1]; }).add_space_prefix);
  const auto metaspace = [](const char* scheme, bool split) {
    return read_changed([&](Json& file) {
      file["normalizer"] = nullptr;
      file["pre_tokenizer"] = {
          {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", split}};
    });
  };
  CHECK(metaspace("always", false).add_space_prefix);
  CHECK_FALSE(metaspace("never", false).add_space_prefix);
  CHECK(metaspace("first", false).add_space_prefix);
  CHECK(metaspace("first", false).prefixes_once);
  CHECK_FALSE(metaspace("always", false).prefixes_once);
  CHECK_ERROR(metaspace("middle", false), "pre_tokenizer", "Metaspace of this sort");
  CHECK_ERROR(metaspace("always", true), "pre_tokenizer", "Metaspace of this sort");
  const auto normalizer = [](const char* text) {
    return read_changed([&](Json& file) { file["normalizer"] = Json::parse(text); });
  };
  CHECK_ERROR(normalizer(R"({"type": "NFKC"})"), "normalizer", "NFKC in a SentencePiece vocabulary");
  CHECK_ERROR(normalizer(R"({"type": "Prepend", "prepend": "_"})"), "Prepend in a SentencePiece vocabulary");
  CHECK_ERROR(normalizer(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "\u2581"})"), "Replace in a");
  CHECK_ERROR(read_changed([](Json& file) {
                file["pre_tokenizer"] = {{"type", "ByteLevel"}};
              }),
              "ByteLevel of this sort");
}

namespace {

// <unk> <s> </s> U+2581 a b U+2581a <x>, and a pair of added tokens as Gemma has them.
Vocabulary small_vocabulary(const Json& normalizer, const Json& pre_tokenizer) {
  const Json added = [](int id, const char* text, bool is_special) {
    return Json{{"id", id}, {"content", text}, {"special", is_special}};
  }(7, "<x>", true);
  Json file = {{"added_tokens", Json::array({added,
                                             {{"id", 8}, {"content", "\u2581\u2581"}, {"special", false}},
                                             {{"id", 9}, {"content", "bb"}, {"special", false}}})},
               {"normalizer", normalizer},
               {"pre_tokenizer", pre_tokenizer},
               {"model",
                {{"type", "BPE"},
                 {"unk_token", "<unk>"},
                 {"byte_fallback", true},
                 {"vocab",
                  {{"<unk>", 0},
                   {"<s>", 1},
                   {"</s>", 2},
                   {"\u2581", 3},
                   {"a", 4},
                   {"b", 5},
                   {"\u2581a", 6},
                   {"<x>", 7},
                   {"\u2581\u2581", 8},
                   {"bb", 9}}},
                 {"merges", {"\u2581 \u2581", "\u2581 a", "b b"}}}}};
  const TemporaryFolder folder;
  return read_tokenizer_json(write_file(folder / "tokenizer.json", file.dump()));
}

Json metaspace(const char* scheme) {
  return {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
}

using Ids = std::vector<TokenId>;

}  // namespace

TEST_CASE("SentencePiece's tokenizer.json: a space before every stretch of text, before the text, or nowhere") {
  // The rule: "always" puts U+2581 before each stretch between added tokens, "first" before one that begins the text.
  struct {
    const char* text;
    Ids always, first, never;
  } cases[] = {
      {"a", {6}, {6}, {4}},
      {"ba", {3, 5, 4}, {3, 5, 4}, {5, 4}},
      {"a<x>a", {6, 7, 6}, {6, 7, 4}, {4, 7, 4}},
      {"<x>a", {7, 6}, {7, 4}, {7, 4}},
      {"<x> a", {7, 8, 4}, {7, 6}, {7, 6}},
      {"<x>", {7}, {7}, {7}},
      {"", {}, {}, {}},
      {"abba", {6, 9, 6}, {6, 9, 4}, {4, 9, 4}},
  };
  const auto always = make_tokenizer(small_vocabulary(nullptr, metaspace("always")), "always");
  const auto first = make_tokenizer(small_vocabulary(nullptr, metaspace("first")), "first");
  const auto never = make_tokenizer(small_vocabulary(nullptr, metaspace("never")), "never");
  for (const auto& [text, of_always, of_first, of_never] : cases) {
    CAPTURE(std::string(text));
    CHECK(always->encode(text, {.parse_special = true}) == of_always);
    CHECK(first->encode(text, {.parse_special = true}) == of_first);
    CHECK(never->encode(text, {.parse_special = true}) == of_never);
    CHECK(always->decode(of_always, true) == text);
    CHECK(first->decode(of_first, true) == text);
    CHECK(never->decode(of_never, true) == text);
  }
  // BOS stands before a text, not in it: what follows it still has the space.
  Vocabulary with_bos = small_vocabulary(nullptr, metaspace("first"));
  with_bos.bos = 1;
  with_bos.kinds[1] = PieceKind::control;
  with_bos.add_bos = true;
  const auto begun = make_tokenizer(with_bos, "with BOS");
  CHECK(begun->encode("a", {}) == Ids{1, 6});
  CHECK(begun->decode(Ids{1, 6}) == "a");
  CHECK(begun->decode(Ids{1, 6, 7, 6}) == "a a");
}

TEST_CASE("SentencePiece's tokenizer.json as Gemma has it: spaces replaced, runs of them and of letters added") {
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  const Json split = {
      {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  const Vocabulary vocabulary = small_vocabulary(replace, split);
  CHECK(vocabulary.kinds[8] == PieceKind::normal);
  CHECK(vocabulary.kinds[9] == PieceKind::user_defined);
  CHECK(vocabulary.merges.size() == 2);  // "bb" is found before anything merges
  const auto gemma = make_tokenizer(vocabulary, "gemma");
  CHECK(gemma->encode("a  a bba", {}) == Ids{4, 8, 4, 3, 9, 4});
  CHECK(gemma->decode(Ids{4, 8, 4, 3, 9, 4}) == "a  a bba");
  CHECK_ERROR(small_vocabulary(nullptr, split), "pre_tokenizer", "Split of this sort");
}
