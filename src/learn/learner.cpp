#include "learn/learner.h"

#include <string>

#include "base/error.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/backward.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "recurrent/recurrent_model.h"

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

ModelConfig recurrent_config(const RecurrentShape& shape) {
  ModelConfig config;
  config.architecture = shape.architecture;
  config.family = shape.architecture == Architecture::rnn    ? "orrery-rnn"
                  : shape.architecture == Architecture::lstm ? "orrery-lstm"
                                                             : "orrery-gru";
  config.n_layers = shape.n_layers;
  config.d_hidden = shape.d_hidden;
  config.d_model = shape.d_embedding > 0 ? shape.d_embedding : shape.d_hidden;
  config.vocab_size = shape.vocab_size;
  config.context_length = kUnboundedContext;
  config.tied_head = shape.tied_head;
  config.head_bias = true;
  check(config, "the shape of the model");
  return config;
}

std::unique_ptr<LanguageModel> make_language_model(std::shared_ptr<const Checkpoint> checkpoint) {
  if (checkpoint->config.is_recurrent()) return std::make_unique<RecurrentModel>(std::move(checkpoint));
  return std::make_unique<Transformer>(std::move(checkpoint));
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
  model = make_language_model(std::make_shared<const Checkpoint>(parameters.checkpoint(config)));
}

}  // namespace orrery
