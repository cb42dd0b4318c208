// SentencePiece's BPE (Kudo and Richardson, 2018, arXiv:1808.06226) as Llama and its relatives use it. A text is cut
// into characters; neighbours may merge that form a piece together, at the score of that piece. The ids are those of
// llama.cpp and SentencePiece. Where the two differ, or lose something:
//
// - Where the vocabulary has merges, they say what merges with what and what comes first, as in Hugging Face's
//   tokenizers. Scores alone decide nearly always the same; not where a run of the same sign can be cut in several
//   ways.
// - Added tokens are found first (text/added_tokens.h), as SentencePiece does it.
// - The dummy prefix, a space, is put before every stretch of text between added tokens (llama.cpp), not only before
//   the first one (SentencePiece; here where the vocabulary says so: `prefixes_once`). Never before an added token,
//   never in an empty text. A text that begins with a space gets another one, so that it comes back (tokenizers: not).
// - Pieces marked "unused" count like normal ones (llama.cpp; SentencePiece would cut them up again).
// - U+2581 stands for a space. One that is in the text itself goes through byte pieces, so that it comes back; both
//   others make a space of it. Where there are no byte pieces, so do we.
// - Bytes that are not UTF-8 go through byte pieces, each on its own.
// - A character without a piece or byte pieces becomes the unknown token, a run of them one (SentencePiece).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe.h"
#include "text/piece_table.h"

namespace orrery {

class SentencePieceTokenizer : public Bpe {
 public:
  // Throws Error when the vocabulary contradicts itself, and for a merge that does not make a piece. Of pieces that are
  // there twice, the first is used.
  SentencePieceTokenizer(Vocabulary vocabulary, const std::string& where);

  std::string piece_bytes(TokenId id, bool show_special = false) const override;
  bool adds_space_prefix() const override { return vocabulary_.add_space_prefix; }

 private:
  void index_pieces(const std::string& where);
  void index_merges(const std::string& where);
  bool has_byte_pieces(std::string_view bytes) const;
  void cut_characters(std::string_view text, Chain& chain) const;

  Chain cut(std::string_view text, bool parse_special) const override;
  std::optional<Merge> find_merge(std::string_view left, std::string_view right) const override;
  void append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const override;
  std::string shown(std::string_view text, const Symbol&) const override { return std::string(text); }
  std::string name_of_symbols() const override { return "characters"; }

  PieceTable pieces_;  // those that text is made of: normal and unused ones
  PieceTable merges_;  // by their text, "a b"; what it finds is their place in the list
  std::array<TokenId, 256> byte_pieces_;
};

}  // namespace orrery
