// Byte-level BPE (Radford et al., 2019, "Language Models are Unsupervised Multitask Learners") as GPT-2, Llama 3, Qwen
// and others use it. A text is cut into pre-tokens (text/pre_tokenizer.h), these into bytes. Two neighbours may merge
// where the vocabulary has a merge of them, and the first merge of its list comes first. So no text is without tokens,
// and decode() gives back any bytes at all. The ids are those of Hugging Face's tokenizers.
//
// Pieces are written in an alphabet in which every byte is a letter that can be seen: the space is U+0120, a G with a
// dot. Added tokens are written as they are.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe.h"
#include "text/piece_table.h"
#include "text/pre_tokenizer.h"

namespace orrery {

// GPT-2's alphabet: the letter of each byte, in UTF-8. Bytes that are visible in Latin-1 stand for themselves, the
// other 68 are U+0100 and what follows, in their order.
const std::array<std::string, 256>& byte_letters();

class ByteLevelTokenizer : public Bpe {
 public:
  // Throws Error when the vocabulary contradicts itself or does not say how to cut text, and for a merge that is not
  // two texts with a space between, which together are a piece. A merge of what is no piece never happens. Of what is
  // there twice, the first is used.
  ByteLevelTokenizer(Vocabulary vocabulary, const std::string& where);

  std::string piece_bytes(TokenId id, bool show_special = false) const override;
  bool adds_space_prefix() const override { return false; }

 private:
  void index_merges(const std::string& where);
  void append_word(std::string_view bytes, Chain& chain) const;

  Chain cut(std::string_view text, bool parse_special) const override;
  std::optional<Merge> find_merge(std::string_view left, std::string_view right) const override;
  void append_ids(std::string_view text, const Symbol& symbol, std::vector<TokenId>& ids) const override;
  std::string shown(std::string_view text, const Symbol& symbol) const override;
  std::string name_of_symbols() const override { return "bytes"; }

  PieceTable pieces_;  // of every kind
  PieceTable merges_;  // by their text, "a b"; what it finds is their place in the list
  PreTokenizer pre_tokenizer_;
  std::array<TokenId, 256> byte_pieces_;
};

}  // namespace orrery
