// A transformer whose rows see the whole of their sequence, before and behind them (Devlin et al., 2019, "BERT"): the
// blocks of the decoder, without the causal mask.
#pragma once

#include "model/transformer.h"

namespace orrery {

class EncoderTransformer : public Transformer {
 public:
  using Transformer::Transformer;

  // After the final norm: [n, d_model]. Rows have no states: a sequence is encoded as a whole. Throws Error.
  Tensor encode(std::span<const Row> rows, Kernels& kernels, Arena& arena, std::span<Observer* const> observers = {});

  // Logits of the rows that want them. As a classifier a sequence begins with a token of its own, whose row alone wants
  // logits: those of the classes, which are tokens of the vocabulary too.
  Tensor forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                 std::span<Observer* const> observers = {}) override;

 private:
  Tensor through_blocks(Pass& pass) const;
};

}  // namespace orrery
