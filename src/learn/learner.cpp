#include "learn/learner.h"

#include <string>

#include "base/error.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/backward.h"
#include "kernels/reference/reference_kernels.h"

namespace orrery {

ModelConfig llama_config(const LlamaShape& shape) {
  ModelConfig config;
  config.family = "llama";
  config.n_layers = shape.n_layers;
  config.d_model = shape.d_model;
  config.n_heads = shape.n_heads;
  config.n_kv_heads = shape.n_kv_heads > 0 ? shape.n_kv_heads : shape.n_heads;
  if (shape.n_heads < 1 || shape.d_model % shape.n_heads != 0) {
    throw Error({.what = "the width cannot be shared out among the heads",
                 .where = "width " + std::to_string(shape.d_model) + ", heads " + std::to_string(shape.n_heads),
                 .expected = "a multiple of the heads"});
  }
  config.head_dim = shape.d_model / shape.n_heads;
  config.d_ff = shape.d_ff > 0 ? shape.d_ff : (shape.d_model * 8 / 3 + 31) / 32 * 32;
  config.vocab_size = shape.vocab_size;
  config.context_length = shape.context_length;
  config.norm_epsilon = 1e-5;
  config.rope_dims = config.head_dim;
  config.rope_base = 10000;
  config.tied_head = true;
  check(config, "the shape of the model");
  return config;
}

Learner::Learner(const ModelConfig& shape, DType dtype, const Threads& threads, uint64_t seed)
    : config(shape), parameters(shape, dtype) {
  if (dtype == DType::F64) {
    forward = std::make_unique<ReferenceKernels<double>>(threads);
    backward = std::make_unique<ReferenceBackward<double>>(threads);
  } else {
    forward = std::make_unique<FastKernels>(threads);
    backward = std::make_unique<FastBackward>(threads);
  }
  initialize(parameters, config, seed);
  model = std::make_unique<Transformer>(std::make_shared<const Checkpoint>(parameters.checkpoint(config)));
}

}  // namespace orrery
