// SentencePiece's BPE (Kudo and Richardson, 2018, arXiv:1808.06226) as Llama and its relatives use it. A text is cut
// into characters; then, of all neighbours that form a piece together, those with the highest score become one, again
// and again. The ids are those of llama.cpp and SentencePiece. Where the two differ, or lose something:
//
// - Added tokens are found first: from left to right, the longest at each place (SentencePiece). Control tokens and the
//   unknown token only where `parse_special` asks for it.
// - The dummy prefix, a space, is put before every stretch of text between added tokens (llama.cpp), not only before
//   the first one (SentencePiece). Never before an added token, never in an empty text.
// - Pieces marked "unused" count like normal ones (llama.cpp; SentencePiece would cut them up again).
// - U+2581 stands for a space. One that is in the text itself goes through byte pieces, so that it comes back; both
//   others make a space of it. Where there are no byte pieces, so do we.
// - Bytes that are not UTF-8 go through byte pieces, each on its own.
// - A character without a piece or byte pieces becomes the unknown token, a run of them one (SentencePiece).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/piece_table.h"
#include "text/tokenizer.h"

namespace orrery {

class SentencePieceTokenizer : public Tokenizer {
 public:
  // Throws Error when the vocabulary contradicts itself. Of pieces that are there twice, the first is used.
  SentencePieceTokenizer(Vocabulary vocabulary, const std::string& where);
  SentencePieceTokenizer(const SentencePieceTokenizer&) = delete;  // the tables point into vocabulary_
  SentencePieceTokenizer& operator=(const SentencePieceTokenizer&) = delete;

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const override;
  std::string piece_bytes(TokenId id, bool show_special = false) const override;
  std::vector<MergeStep> explain(std::string_view text) const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_space_prefix() const override { return vocabulary_.add_space_prefix; }

 private:
  // A text on its way to ids: a chain of symbols that get fewer and longer.
  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  struct Symbol {
    size_t begin, size;     // bytes of Chain::text; size 0: it has become part of the symbol before it
    size_t previous, next;  // places in Chain::symbols, kNowhere at the ends
    TokenId id;             // its piece, kNoToken where there is none
    bool merges;            // false: an added token, or a byte that must stay what it is
  };
  struct Chain {
    std::string text;  // with spaces as U+2581
    std::vector<Symbol> symbols;

    void append(std::string_view bytes, TokenId id, bool merges);
    std::string_view text_of(const Symbol& symbol) const {
      return std::string_view(text).substr(symbol.begin, symbol.size);
    }
  };
  // A symbol and the one after it, which form a piece together.
  struct Candidate {
    float score;
    TokenId id;  // the piece
    size_t left;
  };

  void check(const std::string& where) const;
  void index_pieces(const std::string& where);

  TokenId find_added(std::string_view text, bool parse_special) const;
  bool has_byte_pieces(std::string_view bytes) const;

  Chain cut(std::string_view text, bool parse_special) const;
  void cut_characters(std::string_view text, Chain& chain) const;
  // Calls `after_merge`, if there is one, with the symbol that is new.
  void merge(Chain& chain, const std::function<void(const Symbol&)>& after_merge = {}) const;
  void append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const;

  Vocabulary vocabulary_;
  PieceTable pieces_;                                 // those that text is made of: normal and unused ones
  PieceTable added_;                                  // user-defined, control and unknown ones
  std::array<std::vector<size_t>, 256> added_sizes_;  // of those that begin with this byte, the longest first
  std::array<TokenId, 256> byte_pieces_;
};

}  // namespace orrery
