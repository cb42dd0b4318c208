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
  CHECK_ERROR(metaspace("first", false), "pre_tokenizer", "Metaspace of this sort");
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
