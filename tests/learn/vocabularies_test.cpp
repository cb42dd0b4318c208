#include "learn/vocabularies.h"

#include <doctest/doctest.h>

#include "files/tokenizer_json.h"
#include "learn/bpe_trainer.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Texts = std::vector<std::string_view>;
using Ids = std::vector<TokenId>;

}  // namespace

TEST_CASE("characters: a piece for each, in the order of code points") {
  const Vocabulary vocabulary = character_vocabulary(Texts{"ba b", "\n\xE4\xB8\x80"});
  // <unk> <s> </s> \n a b U+2581 (the space) U+4E00
  CHECK(vocabulary.pieces.size() == 8);
  const auto tokenizer = make_tokenizer(vocabulary, "test");
  CHECK(tokenizer->encode("ab \n\xE4\xB8\x80", {.bos = false}) == Ids{4, 5, 6, 3, 7});
  CHECK(tokenizer->encode("a", {.bos = true}) == Ids{1, 4});
  CHECK(tokenizer->encode("ax", {.bos = false}) == Ids{4, 0});
  CHECK(tokenizer->decode(Ids{1, 4, 5, 6, 4, 2}) == "ab a");
  CHECK(tokenizer->is_end(2));
}

TEST_CASE("characters: any text comes back, whatever its bytes") {
  for (const std::string text : {"  two  spaces ", "\xE2\x96\x81 itself", "broken \xFF\xE4\xB8 bytes", "a\tb\r\n"}) {
    const auto tokenizer = make_tokenizer(character_vocabulary(Texts{text}), "test");
    CHECK(tokenizer->decode(tokenizer->encode(text, {.bos = false})) == text);
  }
}

TEST_CASE("vocabulary of a run: learned or from a file") {
  const TemporaryFolder folder;
  const Texts texts = {"low lower lowest low low"};
  const Vocabulary learned = vocabulary_for("bpe", 260, texts);
  CHECK(learned.pieces.size() == 260);
  CHECK(learned.add_bos);
  CHECK(learned.bos == learned.end_tokens.front());

  write_tokenizer_json(folder / "tokenizer.json", train_bpe(texts, {.vocabulary_size = 260}));
  const Vocabulary read = vocabulary_for(folder / "tokenizer.json", 0, texts);
  CHECK(read.pieces == learned.pieces);
  CHECK(read.bos == learned.bos);
  CHECK(read.end_tokens == learned.end_tokens);
  CHECK(read.add_bos);

  const std::string model = data_file("tiny-models/gguf/valid_base.gguf");
  const Vocabulary taken = vocabulary_for(model, 0, texts);  // the file is closed by now
  const auto tokenizer = make_tokenizer(taken, model);
  CHECK(tokenizer->decode(tokenizer->encode("low", {.bos = false})) == "low");
  CHECK_ERROR(vocabulary_for(folder / "none.json", 0, texts), "none.json");
}
