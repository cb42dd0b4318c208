// Documents as tokens, and the order in which training meets them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learn/gradients.h"
#include "text/tokenizer.h"

namespace orrery {

// Each document begins with BOS and ends with the first end token, where the vocabulary has them.
class TokenData {
 public:
  // Throws Error for a document that the tokenizer cannot encode.
  TokenData(std::span<const std::string_view> documents, const Tokenizer& tokenizer);

  size_t size() const { return ends_.size(); }  // documents
  std::span<const TokenId> document(size_t index) const;
  int64_t tokens() const { return static_cast<int64_t>(tokens_.size()); }
  int64_t guesses() const { return tokens() - static_cast<int64_t>(size()); }  // all tokens but the first of each
  size_t bytes() const { return tokens_.size() * sizeof(TokenId) + ends_.size() * sizeof(size_t); }
  std::string fingerprint() const;  // SHA-256: equal data has the same

  // All documents in order, cut where they are longer than the context: what is the last token of one piece is the
  // first of the next, so that every token but a document's first is guessed once. At most about `most` guesses; 0:
  // all.
  std::vector<Sample> pieces(int context, int64_t most = 0) const;

 private:
  std::vector<TokenId> tokens_;
  std::vector<size_t> ends_;
};

// Packs pieces of documents into batches. Every epoch meets every token once: documents that are longer than the
// context are cut, each time at other places; all pieces are shuffled. Pieces never share attention, and there is no
// padding. The same data and seed give the same batches.
class Packer {
 public:
  // The data must outlive it.
  Packer(const TokenData& data, int context, int64_t tokens_per_batch, uint64_t seed);

  // As many of the next pieces as fit into tokens_per_batch guesses, and at least one; views of the data.
  std::vector<Sample> next();

  struct Place {
    int64_t epoch = 0;  // from 0
    int64_t piece = 0;  // of the epoch's order
  };
  Place place() const { return place_; }
  void go_to(const Place& place);  // throws Error for a place that does not exist
  double epochs() const { return static_cast<double>(place_.epoch) + share_of_epoch(); }

 private:
  struct Piece {
    size_t first, count;  // tokens of a document
    size_t document;
  };
  void begin_epoch(int64_t epoch);
  double share_of_epoch() const;

  const TokenData& data_;
  size_t context_;
  int64_t tokens_per_batch_;
  uint64_t seed_;
  std::vector<Piece> pieces_;  // in the order of this epoch
  Place place_;
};

}  // namespace orrery
