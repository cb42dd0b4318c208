// What a language model is to the rest of the program: rows of tokens in, rows of logits out, and a state for each
// sequence. The transformer is one, the recurrent networks are others.
#pragma once

#include <memory>
#include <span>

#include "config/model_config.h"
#include "kernels/kernels.h"
#include "model/observer.h"
#include "tensor/arena.h"
#include "tensor/tensor.h"
#include "text/tokenizer.h"

namespace orrery {

// What a model remembers of one sequence.
class SequenceState {
 public:
  virtual ~SequenceState() = default;
  virtual int length() const = 0;                           // positions seen
  virtual void truncate(int length) = 0;                    // forgets the positions from `length` on
  virtual size_t bytes() const = 0;                         // memory it holds
  virtual std::unique_ptr<SequenceState> fork() const = 0;  // a copy that goes on by itself
};

// One token of one sequence. The rows of a sequence stand together and in order; those of a state begin at its length.
// Without a state, keys and values are those of this call's own rows, and a row at position 0 starts a new sequence.
struct Row {
  TokenId token = 0;
  int position = 0;
  SequenceState* state = nullptr;
  bool wants_logits = true;
};

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  virtual const ModelConfig& config() const = 0;
  virtual int context_length() const = 0;  // positions a sequence may have
  virtual std::unique_ptr<SequenceState> new_sequence() = 0;

  // Logits [rows that want them, vocab], in the arena: they live until the caller resets it. Throws Error for a token
  // out of range, positions out of order or past the context; no state has changed then.
  virtual Tensor forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                         std::span<Observer* const> observers = {}) = 0;
};

}  // namespace orrery
