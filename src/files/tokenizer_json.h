// tokenizer.json of Hugging Face's tokenizers (https://huggingface.co/docs/tokenizers), as far as it is about
// byte-level BPE or, where it has byte pieces to fall back on, SentencePiece's; and the two files that were before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text/tokenizer.h"

namespace orrery {

// Reads model, added tokens and what goes on before and after. Which tokens begin and end a text is said here only
// where the post-processor adds them; else the caller must set `bos` and `end_tokens` from the model's other files.
// SentencePiece's BPE comes with merges, which decide, and scores made of them for files that have no merges.
// Throws Error for a broken file, and for anything that would give other ids than Hugging Face's tokenizers give.
Vocabulary read_tokenizer_json(const std::string& path);

struct AddedToken {
  std::string text;
  int64_t id = -1;  // -1: the one that the vocabulary has for this text; where it has none, the token is left out
  bool is_special = true;
};

// The two files in which GPT-2 keeps its vocabulary: vocab.json, an id for each piece, and merges.txt, one merge a line
// after a line with the version. How text is cut before merging, and what is an added token, stands elsewhere.
Vocabulary read_vocab_and_merges(const std::string& vocab_path, const std::string& merges_path,
                                 const PreTokenization& rules, std::span<const AddedToken> added);

// Writes a byte-level BPE vocabulary. All pieces are in `vocab`, added tokens too, so that every id stays what it is.
// Throws Error for a vocabulary of another kind, without patterns, or with pieces that are not UTF-8 or there twice.
void write_tokenizer_json(const std::string& path, const Vocabulary& vocabulary);

}  // namespace orrery
