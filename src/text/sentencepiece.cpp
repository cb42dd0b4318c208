#include "text/sentencepiece.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"

namespace orrery {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how pieces write a space

// "<0x0A>" is 10; -1 for anything else.
int byte_value(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  int value = -1;
  const auto result = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  return result.ptr == piece.data() + 5 ? value : -1;
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(Vocabulary vocabulary, const std::string& where)
    : Bpe(std::move(vocabulary), where),
      pieces_(vocabulary_.pieces, vocabulary_.pieces.size()),
      merges_(vocabulary_.merges, vocabulary_.merges.size()) {
  const auto nan = std::ranges::find_if(vocabulary_.scores, [](float score) { return std::isnan(score); });
  if (nan != vocabulary_.scores.end()) {
    throw Error({.what = "the score of piece " + std::to_string(nan - vocabulary_.scores.begin()) + " is not a number",
                 .where = where});
  }
  index_pieces(where);
  index_merges(where);
}

void SentencePieceTokenizer::index_pieces(const std::string& where) {
  byte_pieces_.fill(kNoToken);
  for (size_t i = 0; i < vocabulary_.pieces.size(); ++i) {
    const std::string_view piece = vocabulary_.pieces[i];
    const auto id = static_cast<TokenId>(i);
    if (vocabulary_.kinds[i] == PieceKind::byte) {
      const int value = byte_value(piece);
      if (value < 0) {
        throw Error({.what = "piece " + std::to_string(i) + " is marked as a byte",
                     .where = where,
                     .expected = "<0x00> to <0xFF>",
                     .found = std::string(piece)});
      }
      if (byte_pieces_[value] == kNoToken) byte_pieces_[value] = id;
    } else if (!stands_as_it_is(vocabulary_.kinds[i])) {
      pieces_.add(id);
    }
  }
}

void SentencePieceTokenizer::index_merges(const std::string& where) {
  for (size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
    std::string joined(vocabulary_.merges[rank]);
    const size_t space = joined.find(' ');
    if (space != std::string::npos) joined.erase(space, 1);
    if (space == std::string::npos || pieces_.find(joined) == kNoToken) {
      throw Error({.what = "merge " + std::to_string(rank) + " does not make a piece of two",
                   .where = where,
                   .found = std::string(vocabulary_.merges[rank])});
    }
    merges_.add(static_cast<TokenId>(rank));
  }
}

bool SentencePieceTokenizer::has_byte_pieces(std::string_view bytes) const {
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](char byte) { return byte_pieces_[static_cast<unsigned char>(byte)] != kNoToken; });
}

// Before any merge: added tokens as they stand, all else in characters.
SentencePieceTokenizer::Chain SentencePieceTokenizer::cut(std::string_view text, bool parse_special) const {
  Chain chain;
  chain.text.reserve(text.size() + text.size() / 2);
  chain.symbols.reserve(text.size() + 1);
  const TokenId space = pieces_.find(kSpace);
  for (const AddedTokens::Part& part : added_.cut(text, parse_special)) {
    if (part.id == kNoToken) {
      const bool is_first = part.text.data() == text.data();
      if (vocabulary_.add_space_prefix && (is_first || !vocabulary_.prefixes_once)) chain.append(kSpace, space, true);
      cut_characters(part.text, chain);
    } else {
      chain.append(part.text, part.id, false);
    }
  }
  return chain;
}

void SentencePieceTokenizer::cut_characters(std::string_view text, Chain& chain) const {
  const TokenId space = pieces_.find(kSpace);
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (character == " ") {
      chain.append(kSpace, space, true);
    } else if (length == 0) {
      chain.append(character, kNoToken, false);
    } else if (character == kSpace && has_byte_pieces(kSpace)) {
      for (size_t i = 0; i < length; ++i) chain.append(character.substr(i, 1), kNoToken, false);
    } else {
      chain.append(character, pieces_.find(character), true);
    }
    text.remove_prefix(character.size());
  }
}

std::optional<Bpe::Merge> SentencePieceTokenizer::find_merge(std::string_view left, std::string_view right) const {
  const TokenId id = pieces_.find({left.data(), left.size() + right.size()});
  if (id == kNoToken) return std::nullopt;
  if (vocabulary_.merges.empty()) return Merge{vocabulary_.scores[id], id};
  const TokenId rank = merges_.find(std::string(left).append(" ").append(right));
  if (rank == kNoToken) return std::nullopt;
  return Merge{static_cast<double>(-rank), id};
}

// The id of a symbol; where it has no piece, its bytes or the unknown token.
void SentencePieceTokenizer::append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const {
  if (symbol.id != kNoToken) {
    ids.push_back(symbol.id);
    return;
  }
  // A vocabulary without a piece for the space: then its byte is what will be decoded as a space.
  const std::string_view bytes = symbol.merges && text == kSpace && has_byte_pieces(" ") ? " " : text;
  if (has_byte_pieces(bytes)) {
    for (const char byte : bytes) ids.push_back(byte_pieces_[static_cast<unsigned char>(byte)]);
  } else if (vocabulary_.unknown != kNoToken) {
    if (ids.empty() || ids.back() != vocabulary_.unknown) ids.push_back(vocabulary_.unknown);
  } else {
    throw Error(
        {.what = "the vocabulary has no piece for '" + std::string(text) + "', no byte pieces and no unknown token",
         .hint = "this model cannot be given that text"});
  }
}

std::string SentencePieceTokenizer::piece_bytes(TokenId id, bool show_special) const {
  check_id(id);
  const std::string_view piece = vocabulary_.pieces[id];
  const PieceKind kind = vocabulary_.kinds[id];
  if (kind == PieceKind::control || kind == PieceKind::unknown) return show_special ? std::string(piece) : "";
  if (kind == PieceKind::byte) return std::string(1, static_cast<char>(byte_value(piece)));
  std::string bytes(piece);
  if (kind == PieceKind::user_defined) return bytes;
  for (size_t at = 0; (at = bytes.find(kSpace, at)) != std::string::npos; ++at) bytes.replace(at, kSpace.size(), " ");
  return bytes;
}

}  // namespace orrery
