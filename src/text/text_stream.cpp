#include "text/text_stream.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace orrery {

TextStream::TextStream(const Tokenizer& tokenizer, std::vector<std::string> stops, TokenId previous)
    : detokenizer_(tokenizer, previous), stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string TextStream::push(TokenId id) {
  if (stopped_) return "";
  // Byte by byte, so that the stop text that is complete first counts, wherever tokens begin and end.
  for (const char byte : detokenizer_.next(id)) {
    pending_ += byte;
    size_t stop_size = 0;
    if (ends_with_stop(stop_size)) {
      pending_.resize(pending_.size() - stop_size);
      std::string rest = flush();
      stopped_ = true;
      return rest;
    }
  }
  size_t shown = pending_.size() - stop_beginning();
  shown -= utf8_incomplete_tail(std::string_view(pending_).substr(0, shown));
  std::string text = utf8_sanitized(std::string_view(pending_).substr(0, shown));
  pending_.erase(0, shown);
  return text;
}

std::string TextStream::flush() { return utf8_sanitized(std::exchange(pending_, "")); }

// The longest one counts, so that as little as possible is given out.
bool TextStream::ends_with_stop(size_t& stop_size) const {
  stop_size = 0;
  for (const std::string& stop : stops_) {
    if (pending_.ends_with(stop)) stop_size = std::max(stop_size, stop.size());
  }
  return stop_size > 0;
}

// How many bytes at the end may become a stop text.
size_t TextStream::stop_beginning() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (size_t size = std::min(stop.size() - 1, pending_.size()); size > longest; --size) {
      if (pending_.ends_with(std::string_view(stop).substr(0, size))) longest = size;
    }
  }
  return longest;
}

}  // namespace orrery
