// Dropout on what each half of a block adds to the residual stream, and on the embedding: where GPT-2 has it; in
// recurrent models on what goes from layer to layer and to the head (Zaremba et al., 2014). It is an
// observer: it changes tensors during the forward pass, and their gradients by the same mask on the way back. The model
// knows nothing of it, and evaluation goes without.
#pragma once

#include <cstdint>

#include "kernels/backward.h"
#include "model/observer.h"

namespace orrery {

class Dropout : public Observer {
 public:
  // `share` of the elements, 0 up to, but not, 1; throws Error.
  Dropout(double share, uint64_t seed, BackwardKernels& kernels);

  // The masks of a call depend on the seed, its number and the tensor. To be called before each forward pass.
  void begin(int64_t call) { call_ = call; }

  bool wants(const Probe& probe) const override;  // activations, and their gradients ("embed.grad")
  void on_tensor(const Probe& probe, Tensor& tensor) override;

 private:
  double share_;
  uint64_t seed_;
  int64_t call_ = 0;
  BackwardKernels& kernels_;
};

}  // namespace orrery
