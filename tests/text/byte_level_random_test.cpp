// Byte-level BPE on random vocabularies and texts, against the plainest way to do it.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/utf8.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Ids = std::vector<TokenId>;

struct RandomVocabulary {
  ByteLevelBuilder builder;
  std::map<std::pair<std::string, std::string>, int> ranks;  // of bytes
  std::map<std::string, TokenId> ids;
};

const std::vector<std::string> kUnits = {"a", "b", "c", " ", "\u00E9", "\u4E2D", "\xFF", "\xC3"};

std::string random_text(Random& random, uint64_t longest) {
  std::string text;
  for (uint64_t n = random.below(longest + 1); n > 0; --n) text += kUnits[random.below(kUnits.size())];
  return text;
}

// Merges of pieces that are there already, as training would make them, but in any order.
RandomVocabulary random_vocabulary(Random& random) {
  RandomVocabulary made;
  made.builder.vocabulary().pre_tokenization = {.name = "test", .patterns = {"[^ ]+| "}};
  std::vector<std::string> pieces;
  for (const std::string& unit : kUnits) {
    for (const char byte : unit) pieces.emplace_back(1, byte);
  }
  for (int byte = 0; byte < 256; ++byte) made.ids[std::string(1, static_cast<char>(byte))] = byte;
  for (uint64_t n = random.below(60); n > 0; --n) {
    const std::string left = pieces[random.below(pieces.size())], right = pieces[random.below(pieces.size())];
    const auto rank = static_cast<int>(made.builder.vocabulary().merges.size());
    made.ranks.try_emplace({left, right}, rank);
    made.ids[left + right] = made.builder.merge(left, right);
    pieces.push_back(left + right);
  }
  return made;
}

// Runs of anything but spaces, and spaces one by one; bytes that are not UTF-8 one by one.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words = {""};
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const bool alone = length == 0 || text[0] == ' ';
    if (alone) words.emplace_back();
    words.back() += text.substr(0, std::max<size_t>(length, 1));
    if (alone) words.emplace_back();
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return words;
}

Ids plain_encode(const RandomVocabulary& vocabulary, std::string_view text) {
  Ids ids;
  for (const std::string& word : words_of(text)) {
    std::vector<std::string> symbols;
    for (const char byte : word) symbols.emplace_back(1, byte);
    while (true) {
      size_t best = symbols.size();
      int best_rank = INT32_MAX;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = vocabulary.ranks.find({symbols[i], symbols[i + 1]});
        if (found == vocabulary.ranks.end() || found->second >= best_rank) continue;
        best = i;
        best_rank = found->second;
      }
      if (best == symbols.size()) break;
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    for (const std::string& symbol : symbols) ids.push_back(vocabulary.ids.at(symbol));
  }
  return ids;
}

}  // namespace

TEST_CASE("byte-level BPE: the same ids as from the plainest way, and all texts come back") {
  Random random(20);
  for (int round = 0; round < 300; ++round) {
    const RandomVocabulary vocabulary = random_vocabulary(random);
    const auto tokenizer = vocabulary.builder.tokenizer();
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_text(random, 40);
      CAPTURE(text);
      const Ids ids = tokenizer->encode(text);
      CHECK(ids == plain_encode(vocabulary, text));
      CHECK(tokenizer->decode(ids) == text);
    }
  }
}

TEST_CASE("byte-level BPE: random bytes come back with every known way to cut text") {
  Random random(21);
  for (PreTokenization rules : known_pre_tokenizations()) {
    CAPTURE(rules.name);
    rules.nfc = false;
    ByteLevelBuilder builder;
    builder.merge("\xE4", "\xB8");
    builder.vocabulary().pre_tokenization = rules;
    const auto tokenizer = builder.tokenizer();
    for (int i = 0; i < 200; ++i) {
      std::string text;
      for (uint64_t n = random.below(30); n > 0; --n) {
        text += random.below(2) == 0 ? std::string(1, static_cast<char>(random.below(256)))
                                     : kUnits[random.below(kUnits.size())];
      }
      CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    }
  }
}

TEST_CASE("byte-level BPE: the last line of explain() is what encode() gives") {
  Random random(22);
  for (int round = 0; round < 100; ++round) {
    const RandomVocabulary vocabulary = random_vocabulary(random);
    const auto tokenizer = vocabulary.builder.tokenizer();
    const std::string text = random_text(random, 20);
    const std::vector<MergeStep> steps = tokenizer->explain(text);
    Ids ids;
    if (!text.empty()) {
      for (const std::string& symbol : steps.back().symbols) ids.push_back(vocabulary.ids.at(symbol));
    }
    CHECK(ids == tokenizer->encode(text));
  }
}
