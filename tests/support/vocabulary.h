// Small vocabularies for the tests of tokenizers.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace orrery::test {

class VocabularyBuilder {
 public:
  // <unk>, <s> and </s> at 0, 1 and 2, as Llama has them.
  VocabularyBuilder() {
    vocabulary_.model = "llama";
    vocabulary_.unknown = add("<unk>", 0, PieceKind::unknown);
    vocabulary_.bos = add("<s>", 0, PieceKind::control);
    vocabulary_.end_tokens = {add("</s>", 0, PieceKind::control)};
  }

  TokenId add(const std::string& piece, float score = 0, PieceKind kind = PieceKind::normal) {
    texts_->push_back(piece);  // a deque: what is there does not move
    vocabulary_.pieces.push_back(texts_->back());
    vocabulary_.scores.push_back(score);
    vocabulary_.kinds.push_back(kind);
    return static_cast<TokenId>(vocabulary_.pieces.size()) - 1;
  }

  // <0x00> to <0xFF>; returns the id of the first.
  TokenId add_bytes() {
    TokenId first = kNoToken;
    for (int value = 0; value < 256; ++value) {
      const char* digits = "0123456789ABCDEF";
      const TokenId id = add(std::string("<0x") + digits[value / 16] + digits[value % 16] + ">", 0, PieceKind::byte);
      if (value == 0) first = id;
    }
    return first;
  }

  // What no method sets can be set in this.
  Vocabulary& vocabulary() { return vocabulary_; }

  // The builder must outlive the tokenizer.
  std::unique_ptr<Tokenizer> tokenizer() const { return make_tokenizer(vocabulary_, "test"); }

 private:
  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
  Vocabulary vocabulary_;
};

}  // namespace orrery::test
