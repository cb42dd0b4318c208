// Byte pair encoding (Sennrich, Haddow and Birch, 2016, arXiv:1508.07909), as far as all its kinds agree: a text is cut
// into small symbols; then, of all neighbours that may merge, those with the highest score become one, of equal ones
// the leftmost, again and again until none are left. What the symbols are, which of them may merge and at what score is
// said by text/sentencepiece.h and text/byte_level.h.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace orrery {

class Bpe : public Tokenizer {
 public:
  Bpe(const Bpe&) = delete;  // the tables point into vocabulary_
  Bpe& operator=(const Bpe&) = delete;

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const override;
  std::vector<MergeStep> explain(std::string_view text) const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }

 protected:
  Bpe(Vocabulary vocabulary, const std::string& where)
      : vocabulary_(checked(std::move(vocabulary), where)), added_(vocabulary_) {}

  // A text on its way to ids: symbols that get fewer and longer. Those of a word form a chain; merges do not cross from
  // one word to the next.
  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  struct Symbol {
    size_t begin, size;     // bytes of Chain::text; size 0: it has become part of the symbol before it
    size_t previous, next;  // places in Chain::symbols, kNowhere at the ends of a word
    TokenId id;             // its piece, kNoToken where there is none
    bool merges;            // false: an added token, or a byte that must stay what it is
  };
  struct Chain {
    std::string text;  // as pieces write it
    std::vector<Symbol> symbols;
    std::vector<size_t> words;  // places in `symbols` where they begin; symbols before the first form a word as well

    void append(std::string_view bytes, TokenId id, bool merges);
    std::string_view text_of(const Symbol& symbol) const {
      return std::string_view(text).substr(symbol.begin, symbol.size);
    }
  };
  struct Merge {
    double score;
    TokenId id;  // the piece that the two become
  };

  // Before any merge.
  virtual Chain cut(std::string_view text, bool parse_special) const = 0;
  // For two symbols that stand side by side in Chain::text.
  virtual std::optional<Merge> find_merge(std::string_view left, std::string_view right) const = 0;
  // The id of a symbol; where it has no piece, what stands for it.
  virtual void append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const = 0;
  // How a symbol is shown to people.
  virtual std::string shown(std::string_view text, const Symbol& symbol) const = 0;
  virtual std::string name_of_symbols() const = 0;  // before any merge: "characters"

  Vocabulary vocabulary_;
  AddedTokens added_;

 private:
  // Calls `after_merge`, if there is one, with the symbol that is new and its score.
  void merge(Chain& chain, const std::function<void(const Symbol&, double score)>& after_merge = {}) const;
};

}  // namespace orrery
