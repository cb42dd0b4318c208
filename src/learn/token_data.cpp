#include "learn/token_data.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"

namespace orrery {

TokenData::TokenData(std::span<const std::string_view> documents, const Tokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  size_t bytes = 0;
  for (const std::string_view document : documents) bytes += document.size();
  tokens_.reserve(bytes / 3 + 2 * documents.size());  // a guess that spares large texts the copies of a growing vector
  ends_.reserve(documents.size());
  for (const std::string_view document : documents) {
    if (vocabulary.bos != kNoToken) tokens_.push_back(vocabulary.bos);
    const std::vector<TokenId> ids = tokenizer.encode(document, {.bos = false});
    tokens_.insert(tokens_.end(), ids.begin(), ids.end());
    if (!vocabulary.end_tokens.empty()) tokens_.push_back(vocabulary.end_tokens.front());
    ends_.push_back(tokens_.size());
  }
}

std::span<const TokenId> TokenData::document(size_t index) const {
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::span(tokens_).subspan(begin, ends_[index] - begin);
}

std::string TokenData::fingerprint() const {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(tokens_)));
  sum.add(std::as_bytes(std::span(ends_)));
  return sum.hex();
}

std::vector<Sample> TokenData::pieces(int context, int64_t most) const {
  std::vector<Sample> samples;
  const auto longest = static_cast<size_t>(context);
  int64_t guesses = 0;
  for (size_t d = 0; d < size(); ++d) {
    const auto tokens = document(d);
    for (size_t first = 0; first + 1 < tokens.size(); first += longest) {
      if (most > 0 && guesses >= most) return samples;
      const auto piece = tokens.subspan(first, std::min(longest + 1, tokens.size() - first));
      samples.push_back({.tokens = piece});
      guesses += static_cast<int64_t>(piece.size()) - 1;
    }
  }
  return samples;
}

Packer::Packer(const TokenData& data, int context, int64_t tokens_per_batch, uint64_t seed)
    : data_(data), context_(static_cast<size_t>(context)), tokens_per_batch_(tokens_per_batch), seed_(seed) {
  if (context < 1 || tokens_per_batch < 1 || data.guesses() < 1) {
    throw Error({.what = "there is nothing to pack",
                 .where = "training data",
                 .expected = "at least two tokens in a document, and a context and a batch of at least one",
                 .found = std::to_string(data.tokens()) + " tokens, context " + std::to_string(context) + ", batch " +
                          std::to_string(tokens_per_batch)});
  }
  begin_epoch(0);
}

void Packer::begin_epoch(int64_t epoch) {
  place_ = {.epoch = epoch, .piece = 0};
  pieces_.clear();
  Random random(seed_ + 0x9E3779B97F4A7C15u * static_cast<uint64_t>(epoch + 1));
  for (size_t d = 0; d < data_.size(); ++d) {
    const size_t guesses = data_.document(d).size() - 1;
    size_t first = 0;
    // The first piece of a long document is cut short by chance, and so all the others begin elsewhere each time.
    size_t count = guesses <= context_ ? guesses : 1 + random.below(context_);
    while (first < guesses) {
      pieces_.push_back({.first = first, .count = count + 1, .document = d});
      first += count;
      count = std::min(context_, guesses - first);
    }
  }
  for (size_t i = pieces_.size(); i > 1; --i) std::swap(pieces_[i - 1], pieces_[random.below(i)]);
}

std::vector<Sample> Packer::next() {
  std::vector<Sample> batch;
  int64_t guesses = 0;
  while (true) {
    if (place_.piece == static_cast<int64_t>(pieces_.size())) begin_epoch(place_.epoch + 1);
    const Piece& piece = pieces_[static_cast<size_t>(place_.piece)];
    const auto count = static_cast<int64_t>(piece.count) - 1;
    if (!batch.empty() && guesses + count > tokens_per_batch_) return batch;
    batch.push_back({.tokens = data_.document(piece.document).subspan(piece.first, piece.count)});
    guesses += count;
    ++place_.piece;
    if (guesses >= tokens_per_batch_) return batch;
  }
}

void Packer::go_to(const Place& place) {
  if (place.epoch >= 0) begin_epoch(place.epoch);
  if (place.epoch < 0 || place.piece < 0 || place.piece > static_cast<int64_t>(pieces_.size())) {
    throw Error({.what = "the training data has no such place",
                 .where = "training data",
                 .expected = "piece 0 to " + std::to_string(pieces_.size()),
                 .found = "epoch " + std::to_string(place.epoch) + ", piece " + std::to_string(place.piece)});
  }
  place_ = place;
}

double Packer::share_of_epoch() const {
  return static_cast<double>(place_.piece) / static_cast<double>(pieces_.size());
}

}  // namespace orrery
