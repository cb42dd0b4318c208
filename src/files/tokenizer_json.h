// tokenizer.json of Hugging Face's tokenizers (https://huggingface.co/docs/tokenizers), as far as it is about
// byte-level BPE or, where it has byte pieces to fall back on, SentencePiece's.
#pragma once

#include <string>

#include "text/tokenizer.h"

namespace orrery {

// Reads model, added tokens and what goes on before and after. Which tokens begin and end a text is said here only
// where the post-processor adds them; else the caller must set `bos` and `end_tokens` from the model's other files.
// SentencePiece's BPE comes with merges, which decide, and scores made of them for files that have no merges.
// Throws Error for a broken file, and for anything that would give other ids than Hugging Face's tokenizers give.
Vocabulary read_tokenizer_json(const std::string& path);

// Writes a byte-level BPE vocabulary. All pieces are in `vocab`, added tokens too, so that every id stays what it is.
// Throws Error for a vocabulary of another kind, without patterns, or with pieces that are not UTF-8 or there twice.
void write_tokenizer_json(const std::string& path, const Vocabulary& vocabulary);

}  // namespace orrery
