#include "learn/vocabularies.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "files/checkpoint.h"
#include "files/tokenizer_json.h"
#include "learn/bpe_trainer.h"

namespace orrery {
namespace {

constexpr size_t kMostCharacters = 65536;
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, as SentencePiece writes it

std::string byte_piece(unsigned char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "<0x%02X>", byte);
  return text;
}

std::set<std::string> characters_of(std::span<const std::string_view> texts) {
  std::set<std::string> characters;
  for (std::string_view text : texts) {
    while (!text.empty()) {
      const size_t size = utf8_length(text);
      const std::string_view character = text.substr(0, std::max<size_t>(size, 1));
      // U+2581 itself would come back as a space: it goes by its bytes.
      if (size == 0 || character == kSpace) {
        for (const char byte : character) characters.insert(byte_piece(static_cast<unsigned char>(byte)));
      } else {
        characters.insert(character == " " ? std::string(kSpace) : std::string(character));
      }
      text.remove_prefix(character.size());
      if (characters.size() <= kMostCharacters) continue;
      throw Error({.what = "the text has too many different characters for a piece each",
                   .where = "vocabulary",
                   .expected = "at most " + std::to_string(kMostCharacters),
                   .hint = "learn byte pair encoding instead: --tokenizer bpe"});
    }
  }
  return characters;
}

bool is_byte_piece(std::string_view piece) { return piece.size() == 6 && piece.starts_with("<0x"); }

// A tokenizer.json does not have to say what begins and ends a text.
Vocabulary from_json(const std::string& path) {
  Vocabulary vocabulary = read_tokenizer_json(path);
  const auto found = std::ranges::find(vocabulary.pieces, "<|endoftext|>");
  if (found == vocabulary.pieces.end()) return vocabulary;
  const auto id = static_cast<TokenId>(found - vocabulary.pieces.begin());
  if (vocabulary.bos == kNoToken) vocabulary.bos = id;
  if (vocabulary.end_tokens.empty()) vocabulary.end_tokens = {id};
  return vocabulary;
}

Vocabulary from_model(const std::string& path) {
  const Checkpoint checkpoint = load_checkpoint(path, {.needs_tokenizer = true, .needs_weights = false});
  Vocabulary vocabulary = checkpoint.vocabulary;
  // The pieces point into the file: they move into memory of their own.
  auto storage = std::make_shared<std::string>();
  size_t size = 0;
  for (const auto* list : {&vocabulary.pieces, &vocabulary.merges}) {
    for (const std::string_view piece : *list) size += piece.size();
  }
  storage->reserve(size);
  for (auto* list : {&vocabulary.pieces, &vocabulary.merges}) {
    for (std::string_view& piece : *list) {
      const size_t begin = storage->size();
      *storage += piece;
      piece = std::string_view(*storage).substr(begin, piece.size());
    }
  }
  vocabulary.storage = storage;
  return vocabulary;
}

}  // namespace

Vocabulary character_vocabulary(std::span<const std::string_view> texts) {
  const std::set<std::string> characters = characters_of(texts);
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
  pieces.insert(pieces.end(), characters.begin(), characters.end());
  auto storage = std::make_shared<std::string>();
  for (const std::string& piece : pieces) *storage += piece;

  Vocabulary vocabulary;
  vocabulary.model = "llama";
  size_t begin = 0;
  for (const std::string& piece : pieces) {
    vocabulary.pieces.push_back(std::string_view(*storage).substr(begin, piece.size()));
    begin += piece.size();
    vocabulary.scores.push_back(0);
    vocabulary.kinds.push_back(is_byte_piece(piece) ? PieceKind::byte : PieceKind::normal);
  }
  vocabulary.kinds[0] = PieceKind::unknown;
  vocabulary.kinds[1] = vocabulary.kinds[2] = PieceKind::control;
  vocabulary.unknown = 0;
  vocabulary.bos = 1;
  vocabulary.end_tokens = {2};
  vocabulary.add_space_prefix = false;
  vocabulary.storage = storage;
  return vocabulary;
}

Vocabulary vocabulary_for(const std::string& source, int size, std::span<const std::string_view> texts) {
  Vocabulary vocabulary;
  if (source == "characters") {
    vocabulary = character_vocabulary(texts);
  } else if (source == "bpe") {
    vocabulary = train_bpe(texts, {.vocabulary_size = static_cast<size_t>(size)});
  } else if (source.ends_with(".json")) {
    vocabulary = from_json(source);
  } else {
    vocabulary = from_model(source);
  }
  vocabulary.add_bos = vocabulary.bos != kNoToken;
  return vocabulary;
}

}  // namespace orrery
