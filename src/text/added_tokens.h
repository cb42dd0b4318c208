// Tokens that stand in a text as they are, found before any merge: from left to right, the longest at each place.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "text/piece_table.h"
#include "text/tokenizer.h"

namespace orrery {

// User-defined, control and unknown ones. All others are what merges make of text.
bool stands_as_it_is(PieceKind kind);

class AddedTokens {
 public:
  // The vocabulary must be checked() and stay where it is. Of tokens that are there twice, the first is used.
  explicit AddedTokens(const Vocabulary& vocabulary);

  struct Part {
    std::string_view text;  // never empty
    TokenId id;             // kNoToken: the text between added tokens
  };
  // Control tokens and the unknown token are text like any other unless `parse_special`.
  std::vector<Part> cut(std::string_view text, bool parse_special) const;

 private:
  TokenId find(std::string_view text, bool parse_special) const;

  const Vocabulary& vocabulary_;
  PieceTable table_;
  std::array<std::vector<size_t>, 256> sizes_;  // of those that begin with this byte, the longest first
};

}  // namespace orrery
