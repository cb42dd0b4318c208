#include "text/sentencepiece.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <queue>

#include "base/error.h"
#include "base/utf8.h"

namespace orrery {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how pieces write a space
constexpr size_t kExplainLimit = 1000;               // symbols; the steps of a longer text would fill the memory

unsigned char first_byte(std::string_view text) { return static_cast<unsigned char>(text[0]); }

// "<0x0A>" is 10; -1 for anything else.
int byte_value(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  int value = -1;
  const auto result = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  return result.ptr == piece.data() + 5 ? value : -1;
}

bool stands_as_it_is(PieceKind kind) {
  return kind == PieceKind::user_defined || kind == PieceKind::control || kind == PieceKind::unknown;
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(Vocabulary vocabulary, const std::string& where)
    : vocabulary_(std::move(vocabulary)),
      pieces_(vocabulary_.pieces, vocabulary_.pieces.size()),
      added_(vocabulary_.pieces,
             static_cast<size_t>(std::count_if(vocabulary_.kinds.begin(), vocabulary_.kinds.end(), stands_as_it_is))) {
  check(where);
  index_pieces(where);
}

void SentencePieceTokenizer::check(const std::string& where) const {
  const size_t n = vocabulary_.pieces.size();
  const auto check_size = [&](const char* what, size_t found) {
    if (found == n) return;
    throw Error({.what = std::string("the vocabulary has another number of ") + what + " than of pieces",
                 .where = where,
                 .expected = std::to_string(n),
                 .found = std::to_string(found)});
  };
  check_size("scores", vocabulary_.scores.size());
  check_size("piece types", vocabulary_.kinds.size());

  const auto check_token = [&](const char* what, TokenId id) {
    if (id == kNoToken || (id >= 0 && static_cast<size_t>(id) < n)) return;
    throw Error({.what = std::string("the ") + what + " token is not in the vocabulary",
                 .where = where,
                 .expected = "an id from 0 to " + std::to_string(n - 1),
                 .found = std::to_string(id)});
  };
  check_token("BOS", vocabulary_.bos);
  check_token("unknown", vocabulary_.unknown);
  for (const TokenId id : vocabulary_.end_tokens) check_token("end", id);

  const auto nan =
      std::find_if(vocabulary_.scores.begin(), vocabulary_.scores.end(), [](float score) { return std::isnan(score); });
  if (nan != vocabulary_.scores.end()) {
    throw Error({.what = "the score of piece " + std::to_string(nan - vocabulary_.scores.begin()) + " is not a number",
                 .where = where});
  }
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
    } else if (!piece.empty() && added_.add(id)) {
      added_sizes_[first_byte(piece)].push_back(piece.size());
    }
  }
  for (std::vector<size_t>& sizes : added_sizes_) {
    std::sort(sizes.begin(), sizes.end(), std::greater());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

// The longest added token that `text` begins with.
TokenId SentencePieceTokenizer::find_added(std::string_view text, bool parse_special) const {
  for (const size_t size : added_sizes_[first_byte(text)]) {
    if (size > text.size()) continue;
    const TokenId id = added_.find(text.substr(0, size));
    if (id == kNoToken) continue;
    if (parse_special || vocabulary_.kinds[id] == PieceKind::user_defined) return id;
  }
  return kNoToken;
}

bool SentencePieceTokenizer::has_byte_pieces(std::string_view bytes) const {
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](char byte) { return byte_pieces_[static_cast<unsigned char>(byte)] != kNoToken; });
}

std::vector<TokenId> SentencePieceTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.bos && vocabulary_.add_bos && vocabulary_.bos != kNoToken) ids.push_back(vocabulary_.bos);

  Chain chain = cut(text, options.parse_special);
  merge(chain);
  for (const Symbol& symbol : chain.symbols) {
    if (symbol.size > 0) append_ids(chain.text_of(symbol), symbol, ids);
  }

  if (options.bos && vocabulary_.add_eos && !vocabulary_.end_tokens.empty()) {
    ids.push_back(vocabulary_.end_tokens.front());
  }
  return ids;
}

void SentencePieceTokenizer::Chain::append(std::string_view bytes, TokenId id, bool merges) {
  const size_t place = symbols.size();
  if (place > 0) symbols.back().next = place;
  symbols.push_back({text.size(), bytes.size(), place > 0 ? place - 1 : kNowhere, kNowhere, id, merges});
  text += bytes;
}

// Before any merge: added tokens as they stand, all else in characters.
SentencePieceTokenizer::Chain SentencePieceTokenizer::cut(std::string_view text, bool parse_special) const {
  Chain chain;
  chain.text.reserve(text.size() + text.size() / 2);
  chain.symbols.reserve(text.size() + 1);
  size_t begin = 0;  // of the text since the last added token
  size_t end = 0;
  while (end < text.size()) {
    const TokenId id = find_added(text.substr(end), parse_special);
    if (id == kNoToken) {
      ++end;
      continue;
    }
    cut_characters(text.substr(begin, end - begin), chain);
    const std::string_view piece = vocabulary_.pieces[id];
    chain.append(piece, id, false);
    end += piece.size();
    begin = end;
  }
  cut_characters(text.substr(begin), chain);
  return chain;
}

void SentencePieceTokenizer::cut_characters(std::string_view text, Chain& chain) const {
  if (text.empty()) return;
  const TokenId space = pieces_.find(kSpace);
  if (vocabulary_.add_space_prefix) chain.append(kSpace, space, true);
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

void SentencePieceTokenizer::merge(Chain& chain, const std::function<void(const Symbol&)>& after_merge) const {
  // The highest score comes first; of equal ones, the leftmost.
  const auto comes_later = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(comes_later)> candidates(comes_later);

  std::vector<Symbol>& symbols = chain.symbols;
  const auto consider = [&](size_t left) {
    if (left == kNowhere || symbols[left].next == kNowhere) return;
    const Symbol& right = symbols[symbols[left].next];
    if (!symbols[left].merges || !right.merges) return;
    const size_t size = symbols[left].size + right.size;
    const TokenId id = pieces_.find(std::string_view(chain.text).substr(symbols[left].begin, size));
    if (id != kNoToken) candidates.push({vocabulary_.scores[id], id, left});
  };
  for (size_t i = 0; i < symbols.size(); ++i) consider(i);

  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbols[best.left];
    if (left.size == 0 || left.next == kNowhere) continue;
    Symbol& right = symbols[left.next];
    // One of the two has merged with another neighbour since: together they are longer than the piece now.
    if (left.size + right.size != vocabulary_.pieces[best.id].size()) continue;

    left.size += right.size;
    left.id = best.id;
    left.next = right.next;
    right.size = 0;
    if (left.next != kNowhere) symbols[left.next].previous = best.left;
    if (after_merge) after_merge(left);

    consider(left.previous);
    consider(best.left);
  }
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

std::vector<MergeStep> SentencePieceTokenizer::explain(std::string_view text) const {
  Chain chain = cut(text, false);
  if (chain.symbols.size() > kExplainLimit) {
    throw Error({.what = "the text is too long to be shown merge by merge",
                 .expected = "at most " + std::to_string(kExplainLimit) + " characters",
                 .found = std::to_string(chain.symbols.size())});
  }
  std::vector<MergeStep> steps;
  const auto add_step = [&](std::string_view merged, double score) {
    MergeStep step = {{}, std::string(merged), score};
    for (const Symbol& symbol : chain.symbols) {
      if (symbol.size > 0) step.symbols.emplace_back(chain.text_of(symbol));
    }
    steps.push_back(std::move(step));
  };
  add_step("", 0);
  merge(chain, [&](const Symbol& symbol) { add_step(chain.text_of(symbol), vocabulary_.scores[symbol.id]); });
  return steps;
}

}  // namespace orrery
