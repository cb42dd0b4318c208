// Models and vocabularies made of random numbers: for tests, and for benchmarks of a shape without its file.
#pragma once

#include <cstdint>

#include "config/model_config.h"
#include "files/checkpoint.h"
#include "tensor/dtype.h"
#include "text/tokenizer.h"

namespace orrery {

// Weights for any config, in one block of memory that asks for huge pages. Matrices and embeddings are of the type
// `matrices` (F32, F16, BF16 or Q8_0), uniform with a standard deviation of 1 / sqrt(row length); norms are near 1,
// biases small, both F32. The same seed gives the same numbers anywhere. Throws Error for Q8_0 with rows that are no
// multiple of 32, and for a config that contradicts itself.
Checkpoint random_checkpoint(const ModelConfig& config, DType matrices, uint64_t seed);

// Like SentencePiece's: <unk>, <s>, </s>, 256 byte pieces, then characters and words that merges can build from them.
// `size` is at least 259; throws Error.
Vocabulary random_vocabulary(int size, uint64_t seed);

}  // namespace orrery
