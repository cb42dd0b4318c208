// How much memory a training step takes, from its config alone.
#pragma once

#include <cstdint>

#include "config/model_config.h"
#include "learn/gradients.h"
#include "tensor/dtype.h"

namespace orrery {

struct TrainingMemory {
  uint64_t weights = 0;               // and as much for their gradients
  uint64_t optimizer = 0;             // AdamW's two running means
  uint64_t activations = 0;           // intermediates that wait for the way back
  uint64_t activation_gradients = 0;  // of those between the walk's place and the end of a block or layer
  uint64_t total() const { return 2 * weights + optimizer + activations + activation_gradients; }
};

// For a call of `rows` rows that all want logits, in F32 (or F64), with AdamW.
TrainingMemory training_memory(const ModelConfig& config, int64_t rows, Activations activations,
                               DType dtype = DType::F32);

}  // namespace orrery
