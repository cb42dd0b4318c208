// From a piece to its id: a hash table with open addressing. std::unordered_map does the same, but takes memory for
// every piece on its own: with 151,000 pieces that is a tenth of the time a model may need for its first token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace orrery {

class PieceTable {
 public:
  // `pieces`, by id, must stay where they are as long as the table lives; `room` is how many of them will be added.
  PieceTable(std::span<const std::string_view> pieces, size_t room);

  // False, and nothing is changed, where the same piece is there already under another id.
  bool add(TokenId id);
  TokenId find(std::string_view piece) const;  // kNoToken where there is none

 private:
  struct Slot {
    uint32_t hash = 0;      // the upper half: most pieces that differ are told apart without a look at them
    TokenId id = kNoToken;  // kNoToken: the slot is free
  };
  size_t place_of(std::string_view piece, size_t hash) const;

  std::span<const std::string_view> pieces_;
  std::vector<Slot> slots_;  // a power of two, at least half as many again as there are pieces
};

}  // namespace orrery
