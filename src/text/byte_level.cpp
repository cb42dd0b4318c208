#include "text/byte_level.h"

#include <map>

#include "base/error.h"
#include "base/utf8.h"

namespace orrery {
namespace {

// The bytes that a piece stands for; a piece with letters of another alphabet stands for itself.
std::string bytes_of(std::string_view piece) {
  static const std::map<std::string_view, char> byte_of = [] {
    std::map<std::string_view, char> all;
    for (int byte = 0; byte < 256; ++byte) all.emplace(byte_letters()[byte], static_cast<char>(byte));
    return all;
  }();
  std::string bytes;
  for (std::string_view rest = piece; !rest.empty();) {
    const auto found = byte_of.find(rest.substr(0, utf8_length(rest)));
    if (found == byte_of.end()) return std::string(piece);
    bytes += found->second;
    rest.remove_prefix(found->first.size());
  }
  return bytes;
}

}  // namespace

const std::array<std::string, 256>& byte_letters() {
  static const std::array<std::string, 256> letters = [] {
    std::array<std::string, 256> all;
    int next_letter = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool is_visible = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      const int letter = is_visible ? byte : next_letter++;
      if (letter >= 0x80) all[byte] += static_cast<char>(0xC0 | letter >> 6);
      all[byte] += static_cast<char>(letter < 0x80 ? letter : 0x80 | (letter & 0x3F));
    }
    return all;
  }();
  return letters;
}

ByteLevelTokenizer::ByteLevelTokenizer(Vocabulary vocabulary, const std::string& where)
    : Bpe(std::move(vocabulary), where),
      pieces_(vocabulary_.pieces, vocabulary_.pieces.size()),
      merges_(vocabulary_.merges, vocabulary_.merges.size()),
      pre_tokenizer_(vocabulary_.pre_tokenization, where) {
  for (size_t id = 0; id < vocabulary_.pieces.size(); ++id) pieces_.add(static_cast<TokenId>(id));
  for (int byte = 0; byte < 256; ++byte) byte_pieces_[byte] = pieces_.find(byte_letters()[byte]);
  index_merges(where);
}

void ByteLevelTokenizer::index_merges(const std::string& where) {
  std::string joined;
  size_t result = 0;  // what the merge before this one made
  const auto makes = [&](size_t id) { return id < vocabulary_.pieces.size() && vocabulary_.pieces[id] == joined; };
  for (size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
    const std::string_view merge = vocabulary_.merges[rank];
    const auto fail = [&](const char* what) {
      throw Error({.what = "merge " + std::to_string(rank) + " " + what, .where = where, .found = std::string(merge)});
    };
    const size_t space = merge.find(' ');
    if (space == std::string_view::npos) fail("is not two pieces with a space between");
    joined.assign(merge, 0, space).append(merge, space + 1);
    // Mostly pieces stand in the order of their merges; to look them all up would take longer than all else here.
    if (makes(result + 1)) {
      ++result;
    } else if (!makes(result)) {
      const TokenId id = pieces_.find(joined);
      if (id == kNoToken) fail("makes a piece that the vocabulary does not have");
      result = static_cast<size_t>(id);
    }
    merges_.add(static_cast<TokenId>(rank));
  }
}

ByteLevelTokenizer::Chain ByteLevelTokenizer::cut(std::string_view text, bool parse_special) const {
  Chain chain;
  for (const AddedTokens::Part& part : added_.cut(text, parse_special)) {
    if (part.id == kNoToken) {
      pre_tokenizer_.cut(part.text, [&](std::string_view word) { append_word(word, chain); });
    } else {
      chain.words.push_back(chain.symbols.size());
      chain.append(part.text, part.id, false);
    }
  }
  return chain;
}

void ByteLevelTokenizer::append_word(std::string_view bytes, Chain& chain) const {
  const auto letter_of = [](char byte) -> const std::string& {
    return byte_letters()[static_cast<unsigned char>(byte)];
  };
  chain.words.push_back(chain.symbols.size());
  if (vocabulary_.pre_tokenization.ignore_merges) {
    std::string letters;
    for (const char byte : bytes) letters += letter_of(byte);
    const TokenId whole = pieces_.find(letters);
    if (whole != kNoToken && !stands_as_it_is(vocabulary_.kinds[whole])) return chain.append(letters, whole, true);
  }
  for (const char byte : bytes) chain.append(letter_of(byte), byte_pieces_[static_cast<unsigned char>(byte)], true);
}

std::optional<Bpe::Merge> ByteLevelTokenizer::find_merge(std::string_view left, std::string_view right) const {
  const TokenId rank = merges_.find(std::string(left).append(" ").append(right));
  if (rank == kNoToken) return std::nullopt;
  return Merge{static_cast<double>(-rank), pieces_.find({left.data(), left.size() + right.size()})};
}

void ByteLevelTokenizer::append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const {
  const TokenId id = symbol.id != kNoToken ? symbol.id : vocabulary_.unknown;
  if (id == kNoToken) {
    throw Error(
        {.what = "the vocabulary has neither a piece for the byte '" + bytes_of(text) + "' nor an unknown token",
         .hint = "this model cannot be given that text"});
  }
  ids.push_back(id);
}

std::string ByteLevelTokenizer::shown(std::string_view text, const Symbol& symbol) const {
  return symbol.merges ? bytes_of(text) : std::string(text);
}

std::string ByteLevelTokenizer::piece_bytes(TokenId id, bool show_special) const {
  check_id(id);
  const std::string_view piece = vocabulary_.pieces[id];
  const PieceKind kind = vocabulary_.kinds[id];
  if (kind == PieceKind::control || kind == PieceKind::unknown) return show_special ? std::string(piece) : "";
  return kind == PieceKind::user_defined ? std::string(piece) : bytes_of(piece);
}

}  // namespace orrery
