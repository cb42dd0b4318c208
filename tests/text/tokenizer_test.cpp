#include "text/tokenizer.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/vocabulary.h"

using namespace orrery;
using orrery::test::VocabularyBuilder;

namespace {

std::string error_of(const VocabularyBuilder& builder) {
  try {
    builder.tokenizer();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("make_tokenizer refuses a vocabulary that contradicts itself") {
  const VocabularyBuilder good;
  CHECK(error_of(good).empty());

  VocabularyBuilder bad = good;
  SUBCASE("sizes") {
    bad.vocabulary().scores.pop_back();
    CHECK(error_of(bad) == "test: the vocabulary has another number of scores than of pieces; expected 3, found 2");
  }
  SUBCASE("kinds") {
    bad.vocabulary().kinds.pop_back();
    CHECK(contains(error_of(bad), "piece types"));
  }
  SUBCASE("ids") {
    bad.vocabulary().bos = 3;
    CHECK(contains(error_of(bad), "BOS token is not in the vocabulary"));
    bad.vocabulary().bos = -2;
    CHECK(contains(error_of(bad), "BOS token is not in the vocabulary"));
    bad.vocabulary().bos = kNoToken;
    CHECK(error_of(bad).empty());
    bad.vocabulary().unknown = 100;
    CHECK(contains(error_of(bad), "unknown token is not in the vocabulary"));
    bad.vocabulary().unknown = 0;
    bad.vocabulary().end_tokens = {2, 7};
    CHECK(contains(error_of(bad), "end token is not in the vocabulary"));
  }
  SUBCASE("scores") {
    bad.vocabulary().scores[1] = std::nanf("");
    CHECK(error_of(bad) == "test: the score of piece 1 is not a number");
  }
  SUBCASE("bytes") {
    for (const char* piece : {"<0x1>", "<0xGG>", "<0x0A]", "x0x0A>", "<0x-1>", "a"}) {
      VocabularyBuilder broken = good;
      broken.add(piece, 0, PieceKind::byte);
      CHECK(contains(error_of(broken), "is marked as a byte"));
    }
  }
  SUBCASE("another tokenizer") {
    bad.vocabulary().model = "bert";
    CHECK(contains(error_of(bad), "the tokenizer 'bert' (WordPiece) is not supported; expected 'llama'"));
    bad.vocabulary().model = "my\nown";
    CHECK(contains(error_of(bad), "the tokenizer 'my\\x0Aown' is not supported"));
    bad.vocabulary().model = "";
    CHECK(contains(error_of(bad), "the file has no tokenizer"));
  }
}

TEST_CASE("Tokenizer: an id out of range is an error") {
  const VocabularyBuilder builder;
  const auto tokenizer = builder.tokenizer();
  for (const TokenId id : {-1, 3, std::numeric_limits<TokenId>::max()}) {
    CHECK_THROWS_AS(tokenizer->piece_bytes(id), Error);
    CHECK_THROWS_AS(tokenizer->decode(std::vector<TokenId>{id}), Error);
    CHECK_THROWS_AS(tokenizer->is_added(id), Error);
    CHECK_FALSE(tokenizer->is_end(id));
  }
}
