// Learns a byte-level BPE vocabulary from text, as Sennrich, Haddow and Birch (2016, arXiv:1508.07909) did for
// characters and GPT-2 for bytes: count all pairs of neighbours within pre-tokens, make the most frequent pair one new
// piece, and start again.
//
// Of pairs that are equally frequent, the one with the greater bytes is taken: the greater left piece, then the greater
// right one, compared byte by byte. So the same text always gives the same vocabulary.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace orrery {

struct BpeTrainingOptions {
  size_t vocabulary_size = 4096;  // special tokens, 256 bytes and merges together
  // Control tokens. They cut the text and are no part of any pre-token. The first one ends a text, and is BOS too.
  std::vector<std::string> special_tokens = {"<|endoftext|>"};
  // Chinese puts no spaces between words, so merges join a name with what happens to follow it, and the same name is
  // another piece in the next sentence. If true, every Han character is a pre-token to the trainer, and no piece joins
  // two. The tokenizer cuts as before: it has no merge that would notice.
  bool han_apart = false;
};

// A vocabulary for make_tokenizer, tokenizer.json and GGUF: special tokens first, then the bytes in the order of their
// letters, then what merges made. Text is cut as GPT-2 does it. add_bos is false; set it for a model that wants it.
// A text that runs out of pairs gives fewer merges than were asked for: look at `merges`. Throws Error for a text in
// which no two bytes stand side by side, for a size with no room for the bytes or above a million, and for special
// tokens that are empty or there twice.
Vocabulary train_bpe(std::span<const std::string_view> texts, const BpeTrainingOptions& options = {});

}  // namespace orrery
