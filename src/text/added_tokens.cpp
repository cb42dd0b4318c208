#include "text/added_tokens.h"

#include <algorithm>
#include <functional>

namespace orrery {
namespace {

unsigned char first_byte(std::string_view text) { return static_cast<unsigned char>(text[0]); }

}  // namespace

bool stands_as_it_is(PieceKind kind) {
  return kind == PieceKind::user_defined || kind == PieceKind::control || kind == PieceKind::unknown;
}

AddedTokens::AddedTokens(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      table_(vocabulary.pieces, static_cast<size_t>(std::ranges::count_if(vocabulary.kinds, stands_as_it_is))) {
  for (size_t i = 0; i < vocabulary.pieces.size(); ++i) {
    const std::string_view piece = vocabulary.pieces[i];
    if (!stands_as_it_is(vocabulary.kinds[i]) || piece.empty() || !table_.add(static_cast<TokenId>(i))) continue;
    sizes_[first_byte(piece)].push_back(piece.size());
  }
  for (std::vector<size_t>& sizes : sizes_) {
    std::ranges::sort(sizes, std::greater());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

// The longest one that `text` begins with.
TokenId AddedTokens::find(std::string_view text, bool parse_special) const {
  for (const size_t size : sizes_[first_byte(text)]) {
    if (size > text.size()) continue;
    const TokenId id = table_.find(text.substr(0, size));
    if (id == kNoToken) continue;
    if (parse_special || vocabulary_.kinds[id] == PieceKind::user_defined) return id;
  }
  return kNoToken;
}

std::vector<AddedTokens::Part> AddedTokens::cut(std::string_view text, bool parse_special) const {
  std::vector<Part> parts;
  size_t begin = 0;  // of the text since the last added token
  const auto end_text = [&](size_t end) {
    if (end > begin) parts.push_back({text.substr(begin, end - begin), kNoToken});
  };
  for (size_t at = 0; at < text.size();) {
    const TokenId id = find(text.substr(at), parse_special);
    if (id == kNoToken) {
      ++at;
      continue;
    }
    end_text(at);
    begin = at + vocabulary_.pieces[id].size();
    parts.push_back({text.substr(at, begin - at), id});
    at = begin;
  }
  end_text(text.size());
  return parts;
}

}  // namespace orrery
