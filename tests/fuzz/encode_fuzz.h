// What both kinds of tokenizer promise for any bytes: they come back. The steps end where encoding ends.
#pragma once

#include "fuzz/fuzz.h"
#include "text/tokenizer.h"

namespace orrery::test {

inline void check_round_trip(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, {.bos = false});
  require(tokenizer.decode(ids) == text, "decode(encode(text)) is the text");
  for (const TokenId id : ids) tokenizer.piece_bytes(id, true);
  tokenizer.decode(tokenizer.encode(text, {.bos = true, .parse_special = true}), true);
}

}  // namespace orrery::test
