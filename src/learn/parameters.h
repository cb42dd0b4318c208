// The weights that training changes, and their gradients: each in one block of memory, in one type (F32; F64 for the
// double-precision reference). A Transformer runs on them without a copy and sees every update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "files/checkpoint.h"
#include "files/weight_list.h"
#include "kernels/backward.h"

namespace orrery {

// Tensors of zeros, side by side in one block of memory that they share.
struct TensorBlock {
  TensorBlock(const std::vector<NamedShape>& shapes, DType dtype);

  std::vector<Tensor> tensors;  // each begins on a cache line of its own
  size_t bytes = 0;
  std::shared_ptr<std::byte> memory;
};

struct Parameter {
  Tensor weight;    // "blk.0.attn_q.weight"
  Tensor gradient;  // "blk.0.attn_q.weight.grad"
  bool decays;      // matrices and embeddings shrink under weight decay; norms and biases do not
};

class Parameters {
 public:
  // All weights and gradients are 0.
  Parameters(const std::vector<NamedShape>& shapes, DType dtype);
  // Those of a transformer; a tied head is its token embedding, whose gradient collects both uses.
  Parameters(const ModelConfig& config, DType dtype) : Parameters(weight_shapes(config), dtype) {}

  std::span<Parameter> all() { return parameters_; }
  std::span<const Parameter> all() const { return parameters_; }
  int64_t count() const;  // of numbers in all weights
  size_t bytes() const { return weights_.bytes + gradients_.bytes; }
  // The parameter that this address lies in, or nullptr.
  const Parameter* of_address(const std::byte* data) const;
  const Parameter& named(const std::string& name) const;  // throws Error

  // Takes over the weights of a checkpoint, whatever their type. Throws Error where one is missing or misshapen.
  void copy_weights(const Checkpoint& checkpoint);
  // The weights where they lie, for a Transformer, or to be written to a file.
  Checkpoint checkpoint(const ModelConfig& config) const;

  void clear_gradients(BackwardKernels& kernels);
  // The length of all gradients together, as one vector.
  double gradient_norm(BackwardKernels& kernels) const;
  // Shortens the gradients to `longest` where they are longer; returns their norm before. `longest` 0: only measures.
  double clip_gradients(BackwardKernels& kernels, double longest);

 private:
  TensorBlock weights_, gradients_;
  std::vector<Parameter> parameters_;  // in the order of their addresses
};

// Random weights to start from: normal with deviation sqrt(2 / (5 * d_model)) (Nguyen and Salazar, 2019,
// arXiv:1910.05895); the projections that add to the residual stream are smaller by sqrt(2 * n_layers), as GPT-2 has
// them, so that the stream does not grow with depth. Gains are 1, biases 0. The same seed gives the same weights.
// Recurrent models begin as initialize_recurrent() has it.
void initialize(Parameters& parameters, const ModelConfig& config, uint64_t seed);

}  // namespace orrery
