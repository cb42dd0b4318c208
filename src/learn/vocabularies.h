// The vocabulary for a model that is to be trained: learned from its texts, or taken from a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace orrery {

// One piece for every character of the texts (code points, in their order), after <unk>, <s> and </s>; characters that
// are not among them become <unk>. Bytes that are not UTF-8 are pieces too (<0xFF>), where they occur. Throws Error
// above 65,536 pieces.
Vocabulary character_vocabulary(std::span<const std::string_view> texts);

// "bpe": byte-level BPE of `size` pieces; "characters": character_vocabulary; else a file: tokenizer.json, or a model
// whose vocabulary it shall be. BOS and the first end token are "<|endoftext|>" where a tokenizer.json does not say.
// Every text gets its BOS. Throws Error.
Vocabulary vocabulary_for(const std::string& source, int size, std::span<const std::string_view> texts);

}  // namespace orrery
