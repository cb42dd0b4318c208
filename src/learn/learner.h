// A transformer that learns: its weights, a model that runs on them, and kernels for the way there and back.
#pragma once

#include <cstdint>
#include <memory>

#include "base/parallel.h"
#include "kernels/backward.h"
#include "kernels/kernels.h"
#include "learn/parameters.h"
#include "model/transformer.h"

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

struct Learner {
  // Random weights that depend on the seed alone. F32: the fast kernels; F64: the reference ones.
  Learner(const ModelConfig& config, DType dtype, const Threads& threads, uint64_t seed = 1);

  ModelConfig config;
  Parameters parameters;
  std::unique_ptr<Kernels> forward;
  std::unique_ptr<BackwardKernels> backward;
  std::unique_ptr<Transformer> model;
};

}  // namespace orrery
