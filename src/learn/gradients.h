// The gradient of a model's loss on pieces of text: packs sequences into one call, goes forward under the tape, and
// walks back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backward.h"
#include "learn/parameters.h"
#include "learn/tape.h"
#include "model/language_model.h"
#include "tensor/arena.h"

namespace orrery {

// The model reads all tokens but the last and is to guess all but the first.
struct Sample {
  std::span<const TokenId> tokens;
  std::span<const float> weights = {};  // of the guesses, tokens.size() - 1: 0 leaves one out; empty: 1 each
};

// Weights of all guesses, added up: what the loss of a batch is divided by.
double total_weight(std::span<const Sample> samples);

enum class Activations {
  keep,     // all intermediates stay in memory until the way back
  compute,  // only the residual stream stays; the rest is computed again, block by block
};

class GradientMaker {
 public:
  // All must outlive it. `model` runs on the weights of `parameters`.
  GradientMaker(LanguageModel& model, Kernels& forward, BackwardKernels& backward, Parameters& parameters,
                Activations activations = Activations::keep);

  // Adds the gradient of (sum of weight * loss over all guesses) / divisor to the gradients of the parameters; returns
  // that quotient, in nats. With a divisor of total_weight() it is the mean of a batch; a batch may come in several
  // calls that all have the divisor of the whole: gradients and returned parts add up to those of one large call.
  double add_gradients(std::span<const Sample> samples, double divisor, std::span<Observer* const> observers = {},
                       std::span<Observer* const> gradient_observers = {});

  // The same quotient without gradients.
  double loss(std::span<const Sample> samples, double divisor);

  // An observer that add_gradients() is given as both kinds, and that changes what it sees: see Tape::repeat_with.
  void repeat_with(Observer* observer) { tape_.repeat_with(observer); }

  const Tape& tape() const { return tape_; }
  const Arena& arena() const { return arena_; }

 private:
  double forward(std::span<const Sample> samples, double divisor, Kernels& kernels,
                 std::span<Observer* const> observers);

  LanguageModel& model_;
  Kernels& forward_;
  Tape tape_;
  Arena arena_;
  std::vector<double> dlosses_;  // of the guesses of the last call: weight / divisor
};

}  // namespace orrery
