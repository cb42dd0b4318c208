// Properties of the SentencePiece tokenizer on random vocabularies and texts.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "support/vocabulary.h"
#include "text/sentencepiece.h"

using namespace orrery;
using orrery::test::VocabularyBuilder;

namespace {

const std::string kSpace = "\u2581";
using Ids = std::vector<TokenId>;
constexpr EncodeOptions kNoBos = {.bos = false};

// The characters of well-formed UTF-8.
std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if ((c & 0xC0) != 0x80 || out.empty()) out.emplace_back();
    out.back() += c;
  }
  return out;
}

// The algorithm once more, in the slowest and plainest way: look at every pair, merge the best, start again.
class PlainTokenizer {
 public:
  explicit PlainTokenizer(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    for (size_t i = 0; i < vocabulary.pieces.size(); ++i) {
      const std::string piece(vocabulary.pieces[i]);
      const auto id = static_cast<TokenId>(i);
      if (vocabulary.kinds[i] == PieceKind::normal) normal_.emplace(piece, id);
      if (vocabulary.kinds[i] == PieceKind::user_defined) added_.emplace(piece, id);
      if (vocabulary.kinds[i] == PieceKind::byte) bytes_.emplace(std::stoi(piece.substr(3, 2), nullptr, 16), id);
    }
  }

  Ids encode(const std::string& text) const {
    Ids ids;
    std::string plain;
    for (size_t at = 0; at < text.size();) {
      TokenId longest = kNoToken;
      for (const auto& [piece, id] : added_) {
        const bool is_here = text.compare(at, piece.size(), piece) == 0;
        if (is_here && (longest == kNoToken || piece.size() > vocabulary_.pieces[longest].size())) longest = id;
      }
      if (longest == kNoToken) {
        plain += text[at++];
        continue;
      }
      encode_plain(plain, ids);
      plain.clear();
      ids.push_back(longest);
      at += vocabulary_.pieces[longest].size();
    }
    encode_plain(plain, ids);
    return ids;
  }

 private:
  void encode_plain(const std::string& text, Ids& ids) const {
    if (text.empty()) return;
    std::vector<std::string> symbols = characters((vocabulary_.add_space_prefix ? " " : "") + text);
    for (std::string& symbol : symbols) {
      if (symbol == " ") symbol = kSpace;
    }
    while (true) {
      size_t best = symbols.size();
      float best_score = -std::numeric_limits<float>::infinity();
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = normal_.find(symbols[i] + symbols[i + 1]);
        if (found == normal_.end() || vocabulary_.scores[found->second] <= best_score) continue;
        best = i;
        best_score = vocabulary_.scores[found->second];
      }
      if (best == symbols.size()) break;
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<int64_t>(best) + 1);
    }
    for (const std::string& symbol : symbols) {
      if (const auto found = normal_.find(symbol); found != normal_.end()) {
        ids.push_back(found->second);
      } else if (bytes_.empty()) {
        if (ids.empty() || ids.back() != vocabulary_.unknown) ids.push_back(vocabulary_.unknown);
      } else {
        for (const char byte : symbol) ids.push_back(bytes_.at(static_cast<unsigned char>(byte)));
      }
    }
  }

  const Vocabulary& vocabulary_;
  std::map<std::string, TokenId> normal_, added_;
  std::map<int, TokenId> bytes_;
};

const std::vector<std::string> kAlphabet = {"a", "b", "c", "\u00E9", "\u4E2D", "\U0001F680", kSpace};

// Pieces of one to four characters, many with equal scores.
VocabularyBuilder random_vocabulary(Random& random) {
  VocabularyBuilder builder;
  if (random.below(2) == 0) builder.add_bytes();
  builder.add(kSpace, -100);
  for (size_t i = 0; i < kAlphabet.size() - 1; ++i) {
    if (random.below(4) != 0) builder.add(kAlphabet[i], -100);
  }
  const uint64_t n_pieces = 5 + random.below(60);
  for (uint64_t i = 0; i < n_pieces; ++i) {
    std::string piece;
    for (uint64_t size = 2 + random.below(3); size > 0; --size) piece += kAlphabet[random.below(kAlphabet.size())];
    builder.add(piece, -static_cast<float>(random.below(8)));
  }
  for (uint64_t i = random.below(4); i > 0; --i) {
    std::string piece;
    for (uint64_t size = 1 + random.below(3); size > 0; --size) piece += kAlphabet[random.below(3)];
    builder.add(piece, 0, PieceKind::user_defined);
  }
  builder.vocabulary().add_space_prefix = random.below(2) == 0;
  return builder;
}

std::string random_text(Random& random, uint64_t longest) {
  std::string text;
  for (uint64_t size = random.below(longest + 1); size > 0; --size) {
    const std::string& character = kAlphabet[random.below(kAlphabet.size())];
    text += character == kSpace ? " " : character;
  }
  return text;
}

}  // namespace

TEST_CASE("SentencePiece: agrees with a plain implementation on random texts") {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const VocabularyBuilder builder = random_vocabulary(random);
    const auto tokenizer = builder.tokenizer();
    const PlainTokenizer plain(tokenizer->vocabulary());
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_text(random, 40);
      CAPTURE(text);
      REQUIRE(tokenizer->encode(text, kNoBos) == plain.encode(text));
    }
  }
}

TEST_CASE("SentencePiece: decode(encode(text)) is the text, whatever its bytes") {
  Random random(2);
  VocabularyBuilder builder;
  builder.add_bytes();
  SUBCASE("with a piece for the space") {
    builder.add(kSpace);
    builder.add(kSpace + kSpace, -1);
    builder.add(kSpace + "a", -2);
    builder.add("a");
  }
  SUBCASE("with user-defined pieces") {
    builder.add(kSpace);
    builder.add("a");
    builder.add("ab", 0, PieceKind::user_defined);
    builder.add("  ", 0, PieceKind::user_defined);
    builder.add("\u2581b", 0, PieceKind::user_defined);
    builder.add("\xE2", 0, PieceKind::user_defined);
  }
  SUBCASE("with bytes alone") {}
  SUBCASE("without the dummy prefix") { builder.vocabulary().add_space_prefix = false; }
  const auto tokenizer = builder.tokenizer();

  const std::vector<std::string> parts = {" ", "a", "b", "<s>", kSpace, "\xE2", "\x96", "\x81", std::string(1, '\0'),
                                          "\n"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (uint64_t size = random.below(12); size > 0; --size) {
      text += random.below(3) == 0 ? std::string(1, static_cast<char>(random.below(256)))
                                   : parts[random.below(parts.size())];
    }
    CAPTURE(text);
    REQUIRE(tokenizer->decode(tokenizer->encode(text)) == text);
  }
}

TEST_CASE("SentencePiece: explain() goes from characters to what encode() gives") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const VocabularyBuilder builder = random_vocabulary(random);
    const auto tokenizer = builder.tokenizer();
    const Vocabulary& vocabulary = tokenizer->vocabulary();
    const std::string text = random_text(random, 30);
    const std::vector<MergeStep> steps = tokenizer->explain(text);
    REQUIRE(steps.size() >= 1);
    CHECK(steps[0].merged.empty());
    for (size_t i = 1; i < steps.size(); ++i) {
      CHECK(steps[i].symbols.size() == steps[i - 1].symbols.size() - 1);
      CHECK(std::find(steps[i].symbols.begin(), steps[i].symbols.end(), steps[i].merged) != steps[i].symbols.end());
    }
    // Every id that is no byte and not unknown is a symbol of the last step, in order.
    size_t at = 0;
    for (const TokenId id : tokenizer->encode(text, kNoBos)) {
      if (vocabulary.kinds[id] == PieceKind::byte || id == vocabulary.unknown) continue;
      while (at < steps.back().symbols.size() && steps.back().symbols[at] != vocabulary.pieces[id]) ++at;
      REQUIRE(at < steps.back().symbols.size());
      ++at;
    }
  }
}
