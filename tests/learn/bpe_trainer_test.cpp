#include "learn/bpe_trainer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "support/expect_error.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;  // of bytes

Vocabulary train(const std::string& text, const BpeTrainingOptions& options) {
  const std::string_view view = text;
  return train_bpe({&view, 1}, options);
}

// The algorithm in the slowest and plainest way, for texts of letters and spaces: count all pairs, take the greatest,
// start again.
Merges plain_merges(const std::vector<std::string>& words, size_t n_merges) {
  std::vector<std::vector<std::string>> symbols;
  for (const std::string& word : words) {
    symbols.emplace_back();
    for (const char byte : word) symbols.back().emplace_back(1, byte);
  }
  Merges merges;
  while (merges.size() < n_merges) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& word : symbols) {
      for (size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    }
    if (counts.empty()) break;
    auto best = counts.begin();
    for (auto pair = counts.begin(); pair != counts.end(); ++pair) {  // in ascending order of bytes
      if (pair->second >= best->second) best = pair;
    }
    merges.push_back(best->first);
    for (auto& word : symbols) {
      for (size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] != best->first.first || word[i + 1] != best->first.second) continue;
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return merges;
}

std::vector<std::string> as_written(const Merges& merges) {
  std::vector<std::string> written;
  for (const auto& [left, right] : merges) written.push_back(letters_of(left) + " " + letters_of(right));
  return written;
}

std::vector<std::string> merges_of(const Vocabulary& vocabulary) {
  return {vocabulary.merges.begin(), vocabulary.merges.end()};
}

}  // namespace

TEST_CASE("BPE trainer: the most frequent pair, then the one with the greater bytes") {
  // "lo" and "ow" are there 4 times, and o is greater than l; then "low" 4 times, " low" 3 times; "e r" and " low e"
  // once.
  const Vocabulary vocabulary = train("low low low lower", {.vocabulary_size = 260, .special_tokens = {}});
  CHECK(merges_of(vocabulary) == std::vector<std::string>{"o w", "l ow", "\u0120 low", "e r"});
  CHECK(vocabulary.pieces.size() == 260);
  CHECK(vocabulary.pieces[0] == "!");
  CHECK(vocabulary.pieces[256] == "ow");
  CHECK(vocabulary.pieces[259] == "er");
  CHECK(vocabulary.bos == kNoToken);
  CHECK(vocabulary.end_tokens.empty());
}

TEST_CASE("BPE trainer: bytes are compared without sign") {
  // "\u00E9" is C3 A9: greater than any pair of letters.
  const Vocabulary vocabulary = train("ab\u00E9", {.vocabulary_size = 257, .special_tokens = {}});
  CHECK(vocabulary.merges[0] == "\u00C3 \u00A9");
}

TEST_CASE("BPE trainer: special tokens cut the text and are learnt from nowhere") {
  const BpeTrainingOptions options = {.vocabulary_size = 1000, .special_tokens = {"<|end|>", "<|end|>>"}};
  const Vocabulary vocabulary = train("ab<|end|>ab<|end|>>ab", options);
  CHECK(merges_of(vocabulary) == std::vector<std::string>{"a b"});
  CHECK(vocabulary.pieces.size() == 259);
  CHECK(vocabulary.pieces[0] == "<|end|>");
  CHECK(vocabulary.pieces[1] == "<|end|>>");
  CHECK(vocabulary.pieces[2] == "!");
  CHECK(vocabulary.kinds[1] == PieceKind::control);
  CHECK(vocabulary.kinds[2] == PieceKind::normal);
  CHECK(vocabulary.bos == 0);
  CHECK(vocabulary.end_tokens == std::vector<TokenId>{0});
  CHECK_FALSE(vocabulary.add_bos);
  const auto tokenizer = make_tokenizer(vocabulary, "test");
  CHECK(tokenizer->encode("ab<|end|>", {.parse_special = true}) == std::vector<TokenId>{258, 0});
}

TEST_CASE("BPE trainer: several texts do not run into each other") {
  const std::vector<std::string_view> texts = {"ab", "ab", "a", "b"};
  CHECK(train_bpe(texts, {.vocabulary_size = 300}).merges.size() == 1);
}

TEST_CASE("BPE trainer: with Han apart no piece joins two characters, and the tokenizer cuts text the same way") {
  const std::string text = "小桃最喜欢，小桃最喜欢 and 'more and more'";
  const auto tokens = [&](const std::string& word, bool han_apart) {
    const Vocabulary vocabulary = train(text, {.vocabulary_size = 320, .han_apart = han_apart});
    return make_tokenizer(vocabulary, "test")->encode(word, {.bos = false}).size();
  };
  CHECK(tokens("小桃最喜欢", false) == 1);
  CHECK(tokens("小桃最喜欢", true) == 5);
  CHECK(tokens(" more", false) == 1);
  CHECK(tokens(" more", true) == 1);
}

TEST_CASE("BPE trainer: the same merges as from the plainest way, many of them ties") {
  Random random(30);
  for (int round = 0; round < 300; ++round) {
    const std::string alphabet = round % 2 == 0 ? "ab" : "abcde";
    std::vector<std::string> words;
    std::string text;
    for (uint64_t n = 1 + random.below(30); n > 0; --n) {
      std::string word = text.empty() ? "" : " ";
      for (uint64_t size = 1 + random.below(12); size > 0; --size) word += alphabet[random.below(alphabet.size())];
      words.push_back(word);
      text += word;
    }
    CAPTURE(text);
    const size_t n_merges = random.below(60);
    const Merges expected = plain_merges(words, n_merges);
    if (expected.empty()) continue;
    const Vocabulary vocabulary = train(text, {.vocabulary_size = 257 + n_merges});
    CHECK(merges_of(vocabulary) == as_written(expected));

    // All pieces are different, and each is what its own text becomes.
    CHECK(std::set<std::string_view>(vocabulary.pieces.begin(), vocabulary.pieces.end()).size() ==
          vocabulary.pieces.size());
    const auto tokenizer = make_tokenizer(vocabulary, "test");
    for (TokenId id = 1; id < static_cast<TokenId>(vocabulary.pieces.size()); ++id) {
      CHECK(tokenizer->encode(tokenizer->piece_bytes(id)) == std::vector<TokenId>{id});
    }
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  }
}

TEST_CASE("BPE trainer: any bytes can be learnt from") {
  Random random(31);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += static_cast<char>(random.below(256));
  const Vocabulary vocabulary = train(text, {.vocabulary_size = 400});
  CHECK(vocabulary.merges.size() == 143);
  const auto tokenizer = make_tokenizer(vocabulary, "test");
  CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
}

TEST_CASE("BPE trainer: a run of one character becomes shorter by half each time") {
  const Vocabulary vocabulary = train(std::string(1 << 16, 'a'), {.vocabulary_size = 4000});
  CHECK(vocabulary.merges.size() == 16);
  CHECK(vocabulary.pieces.back().size() == 1 << 16);
}

TEST_CASE("BPE trainer: what cannot be learnt is said") {
  CHECK_ERROR(train("", {}), "nothing to learn", "give more text");
  CHECK_ERROR(train("a", {}), "nothing to learn");
  CHECK_ERROR(train("a\n1!<|endoftext|>b", {}), "nothing to learn");
  CHECK_ERROR(train_bpe({}, {}), "nothing to learn");
  CHECK_ERROR(train("text", {.vocabulary_size = 256}), "257 (all bytes and the special tokens) to 1000000", "256");
  CHECK_ERROR(train("text", {.vocabulary_size = 2'000'000}), "cannot be learnt");
  CHECK_ERROR(train("text", {.special_tokens = {""}}), "empty");
  CHECK_ERROR(train("text", {.special_tokens = {"<s>", "<s>"}}), "'<s>' is there twice");
  CHECK_ERROR(train("text", {.special_tokens = {"x"}}), "'x' is written like a piece");
  CHECK_ERROR(train("at at", {.special_tokens = {"\u0120at"}}), "is written like a piece");
  CHECK(train("", {.vocabulary_size = 257}).pieces.size() == 257);  // only bytes: nothing is to be learnt
}
