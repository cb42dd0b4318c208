// Text as it comes out of a model, token by token, in pieces that can be shown at once.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace orrery {

// Holds back what cannot be decided yet: half a character, and what may be the beginning of a stop text. All that
// push() and flush() return, put together, is what decode() would give up to the stop text, with U+FFFD for each byte
// that belongs to no character. Which bytes came in which token makes no difference.
class TextStream {
 public:
  // `stops`: texts that end the stream, in UTF-8; empty ones are ignored. `previous`: the token that the stream
  // follows, kNoToken at the beginning of a text (the space that SentencePiece puts before a text is dropped there).
  explicit TextStream(const Tokenizer& tokenizer, std::vector<std::string> stops = {}, TokenId previous = kNoToken);

  // The text that can be shown now, in whole characters. "" once stopped() is true.
  std::string push(TokenId id);
  // What was held back. To be called when no more tokens come.
  std::string flush();
  // A stop text is complete. It was not given out, and nothing that came after it.
  bool stopped() const { return stopped_; }

 private:
  bool ends_with_stop(size_t& stop_size) const;
  size_t stop_beginning() const;

  Detokenizer detokenizer_;
  std::vector<std::string> stops_;
  std::string pending_;  // bytes that were not given out
  bool stopped_ = false;
};

}  // namespace orrery
