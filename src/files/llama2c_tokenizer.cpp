// tokenizer.bin of llama2.c: the longest piece's length as an int32, then for each piece a float score, an int32 length
// and its bytes. tokenizer.py writes a space where SentencePiece has U+2581, and <s> and </s> between line feeds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "files/byte_reader.h"
#include "files/llama2c.h"

namespace orrery {
namespace {

constexpr TokenId kUnknown = 0;
constexpr TokenId kBos = 1;
constexpr TokenId kEos = 2;
constexpr TokenId kFirstByte = 3;  // run.c makes the id of a byte by adding 3
constexpr TokenId kAfterBytes = kFirstByte + 256;
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

std::string byte_piece(int byte) {
  char text[8];
  std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte & 0xFF));
  return text;
}

PieceKind kind_of(size_t id, std::string_view piece) {
  if (id == kUnknown) return PieceKind::unknown;
  if (id == kBos || id == kEos) return PieceKind::control;
  const bool is_byte = id < kAfterBytes && piece == byte_piece(static_cast<int>(id) - kFirstByte);
  return is_byte ? PieceKind::byte : PieceKind::normal;
}

void append_with_marks(std::string_view piece, std::string& storage) {
  for (const char c : piece) {
    if (c == ' ') {
      storage += kSpace;
    } else {
      storage += c;
    }
  }
}

std::string with_spaces(std::string_view piece) {
  std::string text;
  for (size_t at = 0; at < piece.size();) {
    const bool is_mark = piece.substr(at).starts_with(kSpace);
    text += is_mark ? ' ' : piece[at];
    at += is_mark ? kSpace.size() : 1;
  }
  return text;
}

[[noreturn]] void fail_size(const std::string& path, int vocab_size, const std::string& found) {
  throw Error({.what = "vocabulary and model do not belong together",
               .where = path,
               .expected = std::to_string(vocab_size) + " pieces, as the model has",
               .found = found,
               .hint = "--tokenizer FILE names the vocabulary that came with the model"});
}

}  // namespace

Vocabulary read_llama2c_tokenizer(const std::string& path, int vocab_size) {
  const MappedFile file(path);
  ByteReader reader(file.bytes(), path);
  reader.part("tokenizer");
  reader.read<int32_t>();  // the longest piece's length: of no use here

  Vocabulary vocabulary;
  vocabulary.model = "llama";
  std::string storage;
  std::vector<size_t> ends;
  while (reader.left() > 0) {
    const size_t id = ends.size();
    if (id == static_cast<size_t>(vocab_size)) fail_size(path, vocab_size, "more");
    const uint64_t score_at = reader.offset();
    vocabulary.scores.push_back(reader.read<float>());
    if (std::isnan(vocabulary.scores.back())) reader.fail({.what = "the score of a piece is not a number"}, score_at);
    const uint64_t length_at = reader.offset();
    const auto length = reader.read<int32_t>();
    if (length < 0) {
      reader.fail({.what = "the length of a piece is negative", .found = std::to_string(length)}, length_at);
    }
    const std::string_view piece = reader.text(static_cast<uint64_t>(length));
    vocabulary.kinds.push_back(kind_of(id, piece));
    if (id == kBos || id == kEos) {
      storage += id == kBos ? "<s>" : "</s>";
    } else {
      append_with_marks(piece, storage);
    }
    ends.push_back(storage.size());
  }
  if (ends.size() != static_cast<size_t>(vocab_size)) fail_size(path, vocab_size, std::to_string(ends.size()));

  vocabulary.storage = std::make_shared<const std::string>(std::move(storage));
  size_t begin = 0;
  for (const size_t end : ends) {
    vocabulary.pieces.push_back(std::string_view(*vocabulary.storage).substr(begin, end - begin));
    begin = end;
  }
  const auto has = [&](TokenId id) { return static_cast<size_t>(id) < ends.size(); };
  vocabulary.unknown = kUnknown;
  if (has(kBos)) vocabulary.bos = kBos;
  // Stories are trained one behind the other with BOS between them, and run.c stops at it: it ends a text as EOS does.
  if (has(kEos)) vocabulary.end_tokens = {kEos, kBos};
  return vocabulary;
}

void write_llama2c_tokenizer(const std::string& path, const Vocabulary& vocabulary) {
  const bool fits = vocabulary.model == "llama" && vocabulary.pieces.size() > static_cast<size_t>(kEos) &&
                    vocabulary.bos == kBos && vocabulary.unknown == kUnknown && !vocabulary.end_tokens.empty() &&
                    vocabulary.end_tokens.front() == kEos;
  if (!fits) {
    throw Error({.what = "the vocabulary cannot be written as a tokenizer.bin",
                 .where = path,
                 .expected = "a SentencePiece vocabulary with <unk>, <s>, </s> as its first three pieces"});
  }
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    if (kind_of(id, vocabulary.pieces[id]) == vocabulary.kinds[id]) continue;
    throw Error(
        {.what = "the vocabulary cannot be written as a tokenizer.bin: it has no place for the kinds of its pieces",
         .where = path + ": piece " + std::to_string(id) + " " + short_name(vocabulary.pieces[id])});
  }
  std::vector<std::string> pieces;
  for (const std::string_view piece : vocabulary.pieces) pieces.push_back(with_spaces(piece));
  for (const TokenId id : {kBos, kEos}) pieces[static_cast<size_t>(id)] = "\n" + pieces[static_cast<size_t>(id)] + "\n";

  OutputFile file(path);
  const auto write = [&](auto value) { file.write(std::as_bytes(std::span(&value, 1))); };
  write(static_cast<int32_t>(std::ranges::max_element(pieces, {}, &std::string::size)->size()));
  for (size_t id = 0; id < pieces.size(); ++id) {
    write(vocabulary.scores[id]);
    write(static_cast<int32_t>(pieces[id].size()));
    file.write(pieces[id]);
  }
  file.commit();
}

}  // namespace orrery
