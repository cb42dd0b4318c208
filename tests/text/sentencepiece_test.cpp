#include "text/sentencepiece.h"

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/vocabulary.h"

using namespace orrery;
using orrery::test::VocabularyBuilder;

namespace {

const std::string kSpace = "\u2581";
using Ids = std::vector<TokenId>;
constexpr EncodeOptions kNoBos = {.bos = false};
constexpr EncodeOptions kSpecial = {.bos = false, .parse_special = true};

}  // namespace

TEST_CASE("SentencePiece: the highest score merges first, of equal ones the leftmost") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a");
  const TokenId b = builder.add("b");
  const TokenId ab = builder.add("ab", -2);
  const TokenId ba = builder.add("ba", -1);
  const TokenId aa = builder.add("aa", -3);
  const auto tokenizer = builder.tokenizer();

  CHECK(tokenizer->encode("ab", kNoBos) == Ids{ab});
  CHECK(tokenizer->encode("aba", kNoBos) == Ids{a, ba});
  CHECK(tokenizer->encode("abab", kNoBos) == Ids{a, ba, b});
  CHECK(tokenizer->encode("aaa", kNoBos) == Ids{aa, a});
  CHECK(tokenizer->encode("aaaa", kNoBos) == Ids{aa, aa});
}

TEST_CASE("SentencePiece: a piece is reached only through pieces") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a");
  const TokenId b = builder.add("b");
  const TokenId c = builder.add("c");
  builder.add("abc", 10);  // neither "ab" nor "bc" is a piece
  CHECK(builder.tokenizer()->encode("abc", kNoBos) == Ids{a, b, c});
}

TEST_CASE("SentencePiece: infinite scores are as good as others") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a", -std::numeric_limits<float>::infinity());
  builder.add("b");
  builder.add("ab", -std::numeric_limits<float>::infinity());
  const TokenId bb = builder.add("bb", std::numeric_limits<float>::infinity());
  CHECK(builder.tokenizer()->encode("abb", kNoBos) == Ids{a, bb});
}

TEST_CASE("SentencePiece: the dummy prefix") {
  VocabularyBuilder builder;
  const TokenId space = builder.add(kSpace);
  const TokenId a = builder.add("a");
  const TokenId space_a = builder.add(kSpace + "a", 1);
  const TokenId added = builder.add("<X>", 0, PieceKind::user_defined);

  const auto with = builder.tokenizer();
  CHECK(with->adds_space_prefix());
  CHECK(with->encode("", kNoBos).empty());
  CHECK(with->encode("a", kNoBos) == Ids{space_a});
  CHECK(with->encode(" a", kNoBos) == Ids{space, space_a});
  CHECK(with->encode("<X>a<X><X> a", kNoBos) == Ids{added, space_a, added, added, space, space_a});
  CHECK(with->decode(Ids{space_a, space_a}) == "a a");
  CHECK(with->decode(Ids{a, space_a}) == "a a");
  CHECK(with->decode(Ids{added, space_a, added, a}) == "<X>a<X>a");
  CHECK(with->piece_bytes(space_a) == " a");

  builder.vocabulary().add_space_prefix = false;
  const auto without = builder.tokenizer();
  CHECK_FALSE(without->adds_space_prefix());
  CHECK(without->encode("a", kNoBos) == Ids{a});
  CHECK(without->encode("<X> a", kNoBos) == Ids{added, space_a});
  CHECK(without->decode(Ids{space_a}) == " a");
}

TEST_CASE("SentencePiece: added tokens, the longest at each place from left to right") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a");
  builder.add("b");
  const TokenId c = builder.add("c");
  const TokenId ab = builder.add("ab", 0, PieceKind::user_defined);
  const TokenId abc = builder.add("abc", 0, PieceKind::user_defined);
  builder.add("bca", 0, PieceKind::user_defined);
  const auto tokenizer = builder.tokenizer();
  CHECK(tokenizer->encode("ababc", kNoBos) == Ids{ab, abc});
  CHECK(tokenizer->encode("abca", kNoBos) == Ids{abc, a});
  CHECK(tokenizer->encode("cab", kNoBos) == Ids{c, ab});
  CHECK(tokenizer->is_added(abc));
  CHECK_FALSE(tokenizer->is_added(a));
}

TEST_CASE("SentencePiece: control tokens are parsed and shown only where that is asked for") {
  VocabularyBuilder builder;
  for (const char c : std::string("<>/sunk")) builder.add(std::string(1, c));
  builder.add(kSpace);
  builder.add("<s", 1);  // "<s" and ">" would form "<s>", were it a normal piece
  const TokenId space_s = builder.add(kSpace + "s", 1);
  const auto tokenizer = builder.tokenizer();

  const Ids plain = tokenizer->encode("<s>", kNoBos);
  CHECK(plain.size() == 3);
  CHECK(tokenizer->decode(plain) == "<s>");

  const Ids special = tokenizer->encode("<s>s</s>", kSpecial);
  CHECK(special == Ids{1, space_s, 2});
  CHECK(tokenizer->decode(special) == "s");
  CHECK(tokenizer->decode(special, true) == "<s>s</s>");
  CHECK(tokenizer->encode("<unk>", kSpecial) == Ids{0});
  CHECK(tokenizer->piece_bytes(0).empty());
  CHECK(tokenizer->piece_bytes(1).empty());
  CHECK(tokenizer->piece_bytes(1, true) == "<s>");
}

TEST_CASE("SentencePiece: BOS and EOS as the vocabulary says") {
  VocabularyBuilder builder;
  const TokenId space_a = builder.add(kSpace + "a");
  builder.add(kSpace);
  builder.add("a");
  CHECK(builder.tokenizer()->encode("a") == Ids{1, space_a});
  CHECK(builder.tokenizer()->encode("") == Ids{1});
  builder.vocabulary().add_eos = true;
  CHECK(builder.tokenizer()->encode("a") == Ids{1, space_a, 2});
  CHECK(builder.tokenizer()->encode("a", kNoBos) == Ids{space_a});
  builder.vocabulary().add_bos = false;
  CHECK(builder.tokenizer()->encode("a") == Ids{space_a, 2});
  CHECK(builder.tokenizer()->is_end(2));
  CHECK_FALSE(builder.tokenizer()->is_end(1));
}

TEST_CASE("SentencePiece: what has no piece goes through bytes, else the unknown token, else it is an error") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a");
  CHECK(builder.tokenizer()->encode("a\u00E9\u00E9\xFF"
                                    "a",
                                    kNoBos) == Ids{a, 0, a});  // a run of them is one

  VocabularyBuilder with_bytes = builder;
  const TokenId zero = with_bytes.add_bytes();
  CHECK(with_bytes.tokenizer()->encode("\u00E9\xFF", kNoBos) == Ids{zero + 0xC3, zero + 0xA9, zero + 0xFF});
  CHECK(with_bytes.tokenizer()->piece_bytes(zero + 0xA9) == "\xA9");
  CHECK(with_bytes.tokenizer()->piece_bytes(zero) == std::string(1, '\0'));
  CHECK(with_bytes.tokenizer()->encode("<0x41>", kNoBos).size() == 6);  // the text, not the byte piece

  builder.vocabulary().unknown = kNoToken;
  CHECK_THROWS_WITH_AS(builder.tokenizer()->encode("\u00E9"),
                       "the vocabulary has no piece for '\u00E9', no byte pieces and no unknown token. "
                       "Hint: this model cannot be given that text",
                       Error);
}

TEST_CASE("SentencePiece: U+2581 in the text is not taken for a space") {
  VocabularyBuilder builder;
  const TokenId space = builder.add(kSpace);
  CHECK(builder.tokenizer()->encode(kSpace, kNoBos) == Ids{space, space});  // it cannot be told apart here
  VocabularyBuilder with_bytes = builder;
  const TokenId zero = with_bytes.add_bytes();
  CHECK(with_bytes.tokenizer()->encode(kSpace, kNoBos) == Ids{space, zero + 0xE2, zero + 0x96, zero + 0x81});
}

TEST_CASE("SentencePiece: explain() step by step") {
  VocabularyBuilder builder;
  for (const char* piece : {"a", "b"}) builder.add(piece);
  builder.add(kSpace);
  builder.add("ab", -1);
  builder.add(kSpace + "ab", -2);
  const auto tokenizer = builder.tokenizer();
  const std::vector<MergeStep> steps = tokenizer->explain("ab");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].symbols == std::vector<std::string>{kSpace, "a", "b"});
  CHECK(steps[1].symbols == std::vector<std::string>{kSpace, "ab"});
  CHECK(steps[1].merged == "ab");
  CHECK(steps[1].score == -1);
  CHECK(steps[2].symbols == std::vector<std::string>{kSpace + "ab"});
  CHECK(tokenizer->explain("").size() == 1);
  CHECK_THROWS_AS(tokenizer->explain(std::string(1000, 'a')), Error);  // 1001 with the prefix
}

TEST_CASE("SentencePiece: 200 kB of one character take no time and no stack") {
  VocabularyBuilder builder;
  builder.add_bytes();
  builder.add(kSpace);
  std::string piece;
  for (int i = 0; i < 16; ++i) builder.add(piece += 'a', static_cast<float>(i));
  builder.add("<", 0, PieceKind::user_defined);
  const auto tokenizer = builder.tokenizer();
  for (const char c : {'a', ' ', '<', '\xE2', 'z'}) {
    const std::string text(200000, c);
    const auto start = std::chrono::steady_clock::now();
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));  // about 0.05 s; 5 for sanitizers
  }
}

TEST_CASE("SentencePiece: with merges too, 200 kB of one character take no time and no stack") {
  VocabularyBuilder builder;
  builder.add_bytes();
  std::vector<std::string> merges;
  for (const std::string& unit : {std::string("a"), kSpace, std::string("\u4E2D")}) {
    builder.add(unit);
    std::string piece = unit;
    for (int i = 0; i < 6; ++i, piece += piece) {
      merges.push_back(piece + " " + piece);
      builder.add(piece + piece);
    }
  }
  for (const std::string& merge : merges) builder.vocabulary().merges.push_back(merge);
  const auto tokenizer = builder.tokenizer();
  for (const std::string unit : {"a", " ", "\u4E2D", "z"}) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
}

TEST_CASE("SentencePiece: of equal pieces the first is used") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId zero = builder.add_bytes();
  const TokenId a = builder.add("a");
  builder.add("a", 5);
  const TokenId added = builder.add("xy", 0, PieceKind::user_defined);
  builder.add("xy", 0, PieceKind::user_defined);
  builder.add("<0x7A>", 0, PieceKind::byte);
  CHECK(builder.tokenizer()->encode("axyz", kNoBos) == Ids{a, added, zero + 'z'});
}

TEST_CASE("SentencePiece: merges say what merges first, where there are any") {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  const TokenId a = builder.add("a");
  const TokenId aa = builder.add("aa", -1);
  const TokenId aaa = builder.add("aaa", -2);
  const TokenId b = builder.add("b");
  builder.add("ab", -3);  // no merge makes it
  CHECK(builder.tokenizer()->encode("aaaa", kNoBos) == Ids{aa, aa});
  // aa is made first and stands on the left, where "a aa" does not apply.
  builder.vocabulary().merges = {"a a", "a aa"};
  CHECK(builder.tokenizer()->encode("aaa", kNoBos) == Ids{aa, a});
  CHECK(builder.tokenizer()->encode("ab", kNoBos) == Ids{a, b});
  builder.vocabulary().merges = {"a a", "aa a"};
  CHECK(builder.tokenizer()->encode("aaa", kNoBos) == Ids{aaa});
  CHECK(builder.tokenizer()->encode("aaaa", kNoBos) == Ids{aa, aa});
  builder.vocabulary().merges = {"a b", "a c"};
  CHECK_THROWS_WITH_AS(builder.tokenizer(), doctest::Contains("merge 1 does not make a piece"), Error);
  builder.vocabulary().merges = {"aa"};
  CHECK_THROWS_WITH_AS(builder.tokenizer(), doctest::Contains("merge 0 does not make a piece"), Error);
}
