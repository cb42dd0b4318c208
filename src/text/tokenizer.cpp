#include "text/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/sentencepiece.h"

namespace orrery {

bool Tokenizer::is_end(TokenId id) const {
  const std::vector<TokenId>& ends = vocabulary().end_tokens;
  return std::find(ends.begin(), ends.end(), id) != ends.end();
}

void Tokenizer::check_id(TokenId id) const {
  const size_t n = vocabulary().pieces.size();
  if (id >= 0 && static_cast<size_t>(id) < n) return;
  throw Error({.what = "there is no such token",
               .expected = "an id from 0 to " + std::to_string(n - 1),
               .found = std::to_string(id)});
}

bool Tokenizer::is_added(TokenId id) const {
  check_id(id);
  const PieceKind kind = vocabulary().kinds[id];
  return kind == PieceKind::user_defined || kind == PieceKind::control;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool show_special) const {
  Detokenizer detokenizer(*this, kNoToken, show_special);
  std::string text;
  for (const TokenId id : ids) text += detokenizer.next(id);
  return text;
}

Detokenizer::Detokenizer(const Tokenizer& tokenizer, TokenId previous, bool show_special)
    : tokenizer_(tokenizer), show_special_(show_special), drops_space_(tokenizer.adds_space_prefix()) {
  if (previous != kNoToken) drops_space_ = drops_space_ && begins_anew_after(previous);
}

// A text that is prefixed once has BOS before it and other added tokens within it.
bool Detokenizer::begins_anew_after(TokenId id) const {
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  return tokenizer_.is_added(id) && (!vocabulary.prefixes_once || id == vocabulary.bos);
}

std::string Detokenizer::next(TokenId id) {
  std::string bytes = tokenizer_.piece_bytes(id, show_special_);
  if (tokenizer_.is_added(id)) {
    drops_space_ = tokenizer_.adds_space_prefix() && begins_anew_after(id);
    return bytes;
  }
  if (drops_space_ && bytes.starts_with(' ')) bytes.erase(0, 1);
  drops_space_ = false;
  return bytes;
}

namespace {

// The names that GGUF gives to tokenizers, for a message that says what is missing.
std::string described(const std::string& model) {
  const struct {
    const char* name;
    const char* description;
  } kinds[] = {{"bert", "WordPiece"}, {"t5", "SentencePiece Unigram"}, {"rwkv", "RWKV World"}};
  for (const auto& kind : kinds) {
    if (model == kind.name) return "'" + model + "' (" + kind.description + ")";
  }
  return "'" + model + "'";
}

}  // namespace

Vocabulary checked(Vocabulary vocabulary, const std::string& where) {
  const size_t n = vocabulary.pieces.size();
  const auto check_size = [&](const char* what, size_t found) {
    if (found == n) return;
    throw Error({.what = std::string("the vocabulary has another number of ") + what + " than of pieces",
                 .where = where,
                 .expected = std::to_string(n),
                 .found = std::to_string(found)});
  };
  check_size("scores", vocabulary.scores.size());
  check_size("piece types", vocabulary.kinds.size());

  const auto check_token = [&](const char* what, TokenId id) {
    if (id == kNoToken || (id >= 0 && static_cast<size_t>(id) < n)) return;
    throw Error({.what = std::string("the ") + what + " token is not in the vocabulary",
                 .where = where,
                 .expected = "an id from 0 to " + std::to_string(n - 1),
                 .found = std::to_string(id)});
  };
  check_token("BOS", vocabulary.bos);
  check_token("unknown", vocabulary.unknown);
  for (const TokenId id : vocabulary.end_tokens) check_token("end", id);
  return vocabulary;
}

std::unique_ptr<Tokenizer> make_tokenizer(Vocabulary vocabulary, const std::string& where) {
  if (vocabulary.model.empty() || vocabulary.empty()) {
    throw Error({.what = "the file has no tokenizer", .where = where, .hint = "give token ids instead of text"});
  }
  if (vocabulary.model == "llama") return std::make_unique<SentencePieceTokenizer>(std::move(vocabulary), where);
  if (vocabulary.model == "gpt2") return std::make_unique<ByteLevelTokenizer>(std::move(vocabulary), where);
  throw Error({.what = "the tokenizer " + described(vocabulary.model) + " is not supported",
               .where = where,
               .expected = "'llama' (SentencePiece BPE) or 'gpt2' (byte-level BPE)"});
}

}  // namespace orrery
