// A model that learns: its weights, a model that runs on them, and kernels for the way there and back.
#pragma once

#include <cstdint>
#include <memory>

#include "base/parallel.h"
#include "kernels/backward.h"
#include "kernels/kernels.h"
#include "learn/parameters.h"
#include "model/language_model.h"

namespace orrery {

struct LlamaShape {
  int n_layers = 0, d_model = 0, n_heads = 0;
  int vocab_size = 0, context_length = 0;
  int n_kv_heads = 0;  // 0: as many as heads
  int d_ff = 0;        // 0: 8/3 of the width, up to a multiple of 32
};
// A model of the Llama family: RMSNorm, rotary positions, SwiGLU, one matrix for embedding and head. Throws Error where
// the heads cannot share the width.
ModelConfig llama_config(const LlamaShape& shape);

// A recurrent model with an embedding as wide as its hidden states unless said otherwise. Throws Error for a shape that
// makes no sense.
struct RecurrentShape {
  Architecture architecture = Architecture::lstm;
  int n_layers = 0, d_hidden = 0;
  int vocab_size = 0;
  int d_embedding = 0;  // 0: d_hidden
  bool tied_head = false;
};
ModelConfig recurrent_config(const RecurrentShape& shape);

// The model that such a checkpoint is of: a Transformer or a RecurrentModel, that runs on its weights where they lie.
std::unique_ptr<LanguageModel> make_language_model(std::shared_ptr<const Checkpoint> checkpoint);

struct Learner {
  // Random weights that depend on the seed alone. F32: the fast kernels; F64: the reference ones.
  Learner(const ModelConfig& config, DType dtype, const Threads& threads, uint64_t seed = 1);

  ModelConfig config;
  Parameters parameters;
  std::unique_ptr<Kernels> forward;
  std::unique_ptr<BackwardKernels> backward;
  std::unique_ptr<LanguageModel> model;
};

}  // namespace orrery
