// Small byte-level vocabularies for tests.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "files/pre_tokenizations.h"
#include "text/byte_level.h"
#include "text/tokenizer.h"

namespace orrery::test {

inline std::string letters_of(const std::string& bytes) {
  std::string letters;
  for (const char byte : bytes) letters += byte_letters()[static_cast<unsigned char>(byte)];
  return letters;
}

class ByteLevelBuilder {
 public:
  // All bytes, with their own values as ids; text is cut as GPT-2 does it.
  ByteLevelBuilder() {
    vocabulary_.model = "gpt2";
    vocabulary_.add_bos = vocabulary_.add_space_prefix = false;
    vocabulary_.pre_tokenization = pre_tokenization_named("gpt-2");
    for (int byte = 0; byte < 256; ++byte) add(byte_letters()[byte]);
  }

  // A piece as it is written in a file.
  TokenId add(const std::string& piece, PieceKind kind = PieceKind::normal) {
    vocabulary_.pieces.push_back(keep(piece));
    vocabulary_.scores.push_back(0);
    vocabulary_.kinds.push_back(kind);
    return static_cast<TokenId>(vocabulary_.pieces.size()) - 1;
  }
  // The next merge, of bytes, and the piece that it makes, unless there is one.
  TokenId merge(const std::string& left, const std::string& right) {
    raw_merge(letters_of(left) + " " + letters_of(right));
    const std::string joined = letters_of(left + right);
    const auto found = std::find(vocabulary_.pieces.begin(), vocabulary_.pieces.end(), joined);
    if (found == vocabulary_.pieces.end()) return add(joined);
    return static_cast<TokenId>(found - vocabulary_.pieces.begin());
  }
  void raw_merge(const std::string& merge) { vocabulary_.merges.push_back(keep(merge)); }

  Vocabulary& vocabulary() { return vocabulary_; }
  // The builder must outlive the tokenizer.
  std::unique_ptr<Tokenizer> tokenizer() const { return make_tokenizer(vocabulary_, "test"); }

 private:
  std::string_view keep(const std::string& text) {
    texts_->push_back(text);  // a deque: what is there does not move
    return texts_->back();
  }

  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
  Vocabulary vocabulary_;
};

}  // namespace orrery::test
