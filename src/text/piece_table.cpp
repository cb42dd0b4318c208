#include "text/piece_table.h"

#include <bit>
#include <functional>

namespace orrery {
namespace {

size_t hash_of(std::string_view piece) { return std::hash<std::string_view>{}(piece); }
uint32_t upper_half(size_t hash) { return static_cast<uint32_t>(hash >> (sizeof hash * 4)); }

}  // namespace

PieceTable::PieceTable(std::span<const std::string_view> pieces, size_t room)
    : pieces_(pieces), slots_(std::bit_ceil(room + room / 2 + 1)) {}

bool PieceTable::add(TokenId id) {
  const size_t hash = hash_of(pieces_[id]);
  Slot& slot = slots_[place_of(pieces_[id], hash)];
  if (slot.id != kNoToken) return false;
  slot = {upper_half(hash), id};
  return true;
}

TokenId PieceTable::find(std::string_view piece) const { return slots_[place_of(piece, hash_of(piece))].id; }

// Where the piece is, or the free slot where it would be: pieces that want the same slot stand one after the other.
size_t PieceTable::place_of(std::string_view piece, size_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t place = hash & mask;
  while (slots_[place].id != kNoToken) {
    if (slots_[place].hash == upper_half(hash) && pieces_[slots_[place].id] == piece) break;
    place = (place + 1) & mask;
  }
  return place;
}

}  // namespace orrery
