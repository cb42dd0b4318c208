// The files of llama2.c (https://github.com/karpathy/llama2.c, export.py and tokenizer.py): a model as bare F32
// matrices behind a short header, and beside it a vocabulary, tokenizer.bin.
//
// Version 0 has no magic number: seven int32 (d_model, d_ff, layers, heads, key-value heads, vocabulary, context; a
// negative vocabulary means that the head has weights of its own), the weights, and two RoPE tables that nobody reads.
// Version 1 begins with "ak42" as an uint32, its version, the same seven numbers, a byte that says whether the head is
// the embedding, zeros up to byte 256; then the weights in another order, all norms first. Version 2 has an int32 more
// in its header, the size of a group, and matrices of int8, row after row; behind each matrix stands an F32 scale for
// each group of so many numbers. They are widened to F32 when they are read.
#pragma once

#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "files/checkpoint.h"

namespace orrery {

// By its magic number or, for version 0, by a header that makes sense.
bool is_llama2c(const MappedFile& file);
Checkpoint llama2c_checkpoint(std::shared_ptr<const MappedFile> file, const LoadOptions& options);

// Throws Error for a file that is broken, or has another number of pieces than `vocab_size`.
Vocabulary read_llama2c_tokenizer(const std::string& path, int vocab_size);

// Written as F32, whatever the weights are. Throws Error for a model that the format cannot express: its constants
// (norm epsilon 1e-5, RoPE base 10000) are not in the file.
void write_llama2c(const std::string& path, const Checkpoint& checkpoint, int version);
// Throws Error for a vocabulary that the format cannot express: ids 0 to 2 are <unk>, <s> and </s>, byte pieces follow.
void write_llama2c_tokenizer(const std::string& path, const Vocabulary& vocabulary);

}  // namespace orrery
