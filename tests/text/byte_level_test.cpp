#include "text/byte_level.h"

#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/expect_error.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Ids = std::vector<TokenId>;
constexpr EncodeOptions kSpecial = {.bos = false, .parse_special = true};

}  // namespace

TEST_CASE("byte-level BPE: the alphabet is GPT-2's") {
  CHECK(byte_letters()['a'] == "a");
  CHECK(byte_letters()['!'] == "!");
  CHECK(byte_letters()[' '] == "\u0120");
  CHECK(byte_letters()['\n'] == "\u010A");
  CHECK(byte_letters()[0] == "\u0100");
  CHECK(byte_letters()[0x7F] == "\u0121");
  CHECK(byte_letters()[0xA0] == "\u0142");
  CHECK(byte_letters()[0xA1] == "\u00A1");
  CHECK(byte_letters()[0xAD] == "\u0143");
  CHECK(byte_letters()[0xFF] == "\u00FF");
  CHECK(std::set<std::string>(byte_letters().begin(), byte_letters().end()).size() == 256);
}

TEST_CASE("byte-level BPE: the first merge of the list comes first, of equal ones the leftmost") {
  ByteLevelBuilder builder;
  const TokenId bc = builder.merge("b", "c");
  const TokenId ab = builder.merge("a", "b");
  const TokenId aa = builder.merge("a", "a");
  const TokenId abc = builder.merge("a", "bc");
  const auto tokenizer = builder.tokenizer();
  CHECK(tokenizer->encode("ab") == Ids{ab});
  CHECK(tokenizer->encode("abc") == Ids{abc});  // not ab and c
  CHECK(tokenizer->encode("aaa") == Ids{aa, 'a'});
  CHECK(tokenizer->encode("bcbc") == Ids{bc, bc});
  CHECK(tokenizer->encode("").empty());
}

TEST_CASE("byte-level BPE: merges stay within pre-tokens") {
  ByteLevelBuilder builder;
  builder.merge("a", " ");
  const TokenId space_a = builder.merge(" ", "a");
  CHECK(builder.tokenizer()->encode("a a") == Ids{'a', space_a});
}

TEST_CASE("byte-level BPE: user-defined tokens are found always, control tokens where asked") {
  ByteLevelBuilder builder;
  const TokenId end = builder.add("<|end|>", PieceKind::control);
  const TokenId tool = builder.add("<tool>", PieceKind::user_defined);
  const TokenId accent = builder.add("\u00E9", PieceKind::user_defined);  // as it stands, not in the alphabet of bytes
  const auto tokenizer = builder.tokenizer();
  CHECK(tokenizer->encode("a<tool>b") == Ids{'a', tool, 'b'});
  CHECK(tokenizer->encode("<|end|>").size() == 7);
  CHECK(tokenizer->encode("<|end|>", kSpecial) == Ids{end});
  CHECK(tokenizer->encode("\u00E9") == Ids{accent});
  CHECK(tokenizer->decode(Ids{'a', end, tool, accent}) == "a<tool>\u00E9");
  CHECK(tokenizer->decode(Ids{'a', end, tool}, true) == "a<|end|><tool>");
}

TEST_CASE("byte-level BPE: BOS and EOS where the file wants them") {
  ByteLevelBuilder builder;
  builder.vocabulary().bos = builder.add("<s>", PieceKind::control);
  builder.vocabulary().end_tokens = {builder.add("</s>", PieceKind::control)};
  CHECK(builder.tokenizer()->encode("a") == Ids{'a'});
  builder.vocabulary().add_bos = builder.vocabulary().add_eos = true;
  CHECK(builder.tokenizer()->encode("a") == Ids{256, 'a', 257});
  CHECK(builder.tokenizer()->encode("a", {.bos = false}) == Ids{'a'});
  CHECK(builder.tokenizer()->is_end(257));
}

TEST_CASE("byte-level BPE: with ignore_merges a pre-token that is a piece stays one") {
  ByteLevelBuilder builder;
  const TokenId whole = builder.add("abc");  // no merge makes it
  builder.add("x", PieceKind::control);
  const TokenId ab = builder.merge("a", "b");
  CHECK(builder.tokenizer()->encode("abc") == Ids{ab, 'c'});
  builder.vocabulary().pre_tokenization.ignore_merges = true;
  CHECK(builder.tokenizer()->encode("abc") == Ids{whole});
  CHECK(builder.tokenizer()->encode("abcc") == Ids{ab, 'c', 'c'});
  CHECK(builder.tokenizer()->encode("x") == Ids{'x'});
}

TEST_CASE("byte-level BPE: what is not UTF-8 comes back, each byte on its own") {
  ByteLevelBuilder builder;
  builder.merge("\xC3", "\xA9");
  builder.merge("\xFF", "\xFE");  // never: the two are never in one pre-token
  builder.merge("a", "\xFF");
  const auto tokenizer = builder.tokenizer();
  CHECK(tokenizer->encode("\u00E9") == Ids{256});
  CHECK(tokenizer->encode("\xFF\xFE") == Ids{0xFF, 0xFE});
  CHECK(tokenizer->encode("a\xFF") == Ids{'a', 0xFF});
  for (const std::string text : {"\xC3", "\xC3\xC3\xA9", "a\x80z", "\xED\xA0\x80", "\xF5\x80\x80\x80", " \xFF \n"}) {
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  }
  const std::string zeros("\0a\0", 3);
  CHECK(tokenizer->decode(tokenizer->encode(zeros)) == zeros);
}

TEST_CASE("byte-level BPE: a byte without a piece is the unknown token, or an error") {
  ByteLevelBuilder builder;
  builder.vocabulary().pieces['z'] = "gone";
  const auto tokenizer = builder.tokenizer();
  CHECK_ERROR(tokenizer->encode("az"), "neither a piece for the byte 'z' nor an unknown token");
  builder.vocabulary().unknown = builder.add("<unk>", PieceKind::unknown);
  CHECK(builder.tokenizer()->encode("zza") == Ids{256, 256, 'a'});
}

TEST_CASE("byte-level BPE: a piece of another alphabet stands for itself") {
  ByteLevelBuilder builder;
  const TokenId chinese = builder.add("\u4E2D\u6587");
  const TokenId broken = builder.add("a\xFF");
  const TokenId nothing = builder.add("");
  CHECK(builder.tokenizer()->piece_bytes(chinese) == "\u4E2D\u6587");
  CHECK(builder.tokenizer()->piece_bytes(broken) == "a\xFF");
  CHECK(builder.tokenizer()->piece_bytes(nothing).empty());
}

TEST_CASE("byte-level BPE: broken merges") {
  const auto with = [](const std::string& merge) {
    ByteLevelBuilder builder;
    builder.merge("a", "b");
    builder.raw_merge(merge);
    return builder;
  };
  CHECK_ERROR(with("ab").tokenizer(), "test: merge 1", "not two pieces with a space between", "found ab");
  CHECK_ERROR(with("").tokenizer(), "merge 1", "not two pieces");
  CHECK_ERROR(with("b c").tokenizer(), "merge 1", "makes a piece that the vocabulary does not have");
  CHECK_ERROR(with("b \xFF").tokenizer(), "merge 1", "does not have");
  CHECK_ERROR(with("a b c").tokenizer(), "does not have");
  // Together they are a piece, but one of them is none: that never happens.
  for (const char* merge : {" ab", "ab ", " a"}) CHECK(with(merge).tokenizer()->encode("ab") == Ids{256});

  // Of a merge that is there twice, the first counts.
  ByteLevelBuilder twice;
  const TokenId ab = twice.merge("a", "b");
  twice.merge("b", "c");
  twice.merge("a", "b");
  CHECK(twice.tokenizer()->encode("abc") == Ids{ab, 'c'});

  // Of a piece that is there twice, too.
  ByteLevelBuilder pieces;
  const TokenId first = pieces.merge("a", "b");
  pieces.add("ab");
  CHECK(pieces.tokenizer()->encode("ab") == Ids{first});
}

TEST_CASE("byte-level BPE: a vocabulary that does not say how to cut text is refused, never guessed at") {
  ByteLevelBuilder builder;
  builder.vocabulary().pre_tokenization = {};
  CHECK_ERROR(builder.tokenizer(), "test: the vocabulary does not say", "May 2024");
  builder.vocabulary().pre_tokenization = pre_tokenization_named("my\nown");
  CHECK_ERROR(builder.tokenizer(), "the pre-tokenizer 'my\\x0Aown' is not known");
  builder.vocabulary().pre_tokenization.patterns = {"a", "(b"};
  CHECK_ERROR(builder.tokenizer(), "cannot be used", "missing closing parenthesis", "(b");
}

TEST_CASE("byte-level BPE: explain() shows pre-tokens, bytes and merges") {
  ByteLevelBuilder builder;
  builder.merge("b", "c");
  builder.merge(" ", "b");
  builder.merge("a", "bc");
  builder.add("<tool>", PieceKind::user_defined);
  const std::vector<MergeStep> steps = builder.tokenizer()->explain("abc b<tool>");
  using Symbols = std::vector<std::string>;
  REQUIRE(steps.size() == 5);
  CHECK(steps[0].stage == "pre-tokens");
  CHECK(steps[0].symbols == Symbols{"abc", " b", "<tool>"});
  CHECK(steps[1].stage == "bytes");
  CHECK(steps[1].symbols == Symbols{"a", "b", "c", " ", "b", "<tool>"});
  CHECK(steps[2].symbols == Symbols{"a", "bc", " ", "b", "<tool>"});
  CHECK(steps[2].merged == "bc");
  CHECK(steps[2].score == 0);
  CHECK_FALSE(std::signbit(steps[2].score));
  CHECK(steps[3].symbols == Symbols{"abc", " ", "b", "<tool>"});
  CHECK(steps[3].score == -2);
  CHECK(steps[4].merged == " b");
  CHECK(steps[4].stage.empty());
  CHECK_ERROR(builder.tokenizer()->explain(std::string(1001, 'a')), "too long", "1000 bytes");
}

TEST_CASE("byte-level BPE: 200 kB of one character are merged at once") {
  ByteLevelBuilder builder;
  for (std::string unit : {"a", " ", "\n", "1", "!", "\xE4\xB8\xAD", "\xFF"}) {
    for (size_t i = 1; i < unit.size(); ++i) builder.merge(unit.substr(0, i), unit.substr(i, 1));
    for (; unit.size() < 100; unit += unit) builder.merge(unit, unit);
  }
  const auto tokenizer = builder.tokenizer();
  for (const std::string unit : {"a", " ", "\n", "1", "!", "\xE4\xB8\xAD", "\xFF"}) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const Ids ids = tokenizer->encode(text);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    CHECK(tokenizer->decode(ids) == text);
  }
}
