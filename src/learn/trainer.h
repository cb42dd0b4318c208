// Training, step by step: take a batch, find the gradient of its loss, clip it, let the optimizer change the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "learn/dropout.h"
#include "learn/gradients.h"
#include "learn/optimizer.h"
#include "learn/token_data.h"

namespace orrery {

enum class OptimizerKind { adamw, sgd, muon };

struct TrainingSettings {
  int64_t steps = 2500;            // where the learning rate arrives at its lowest
  int context = 256;               // longest piece, in guesses
  int64_t tokens_per_step = 4096;  // of a batch, about: pieces are not cut to fit
  int64_t tokens_per_call = 4096;  // a larger batch is computed in several calls, whose gradients add up
  OptimizerKind optimizer = OptimizerKind::adamw;
  double rate = 1e-3;
  double lowest_rate = 1e-4;
  int64_t warmup_steps = 100;
  double weight_decay = 0.1;
  double beta1 = 0.9, beta2 = 0.95;  // AdamW, and what Muon leaves to it
  double momentum = 0.9;             // SGD and Muon
  double clip = 1;                   // longest gradient; 0: any
  double dropout = 0;
  uint64_t seed = 1;  // of the batches and of dropout
  Activations activations = Activations::keep;
};

// Throws Error that names the setting.
void check(const TrainingSettings& settings);
// What must be the same for a run to be resumed with the same losses, as text: "context 256, ...".
std::string run_description(const TrainingSettings& settings);

struct StepReport {
  int64_t step = 0;        // the first is 1
  int64_t tokens = 0;      // guesses of its batch
  double mean_length = 0;  // of the piece that a token lies in
  double loss = 0;         // nats per token, before the update
  double rate = 0;
  double gradient_norm = 0;  // before clipping
};

class Trainer {
 public:
  // All must outlive it. `model` runs on the weights of `parameters`, which hold something to start from.
  Trainer(LanguageModel& model, Kernels& forward, BackwardKernels& backward, Parameters& parameters,
          const TokenData& training, const TrainingSettings& settings);

  // Throws Error that names the first tensor that is not finite, should there be one: the weights have not changed
  // then.
  StepReport step();

  // Mean loss of samples, in nats per token, without dropout. `goes_on` is asked between calls; false: NaN.
  double loss(std::span<const Sample> samples, const std::function<bool()>& goes_on = {});

  int64_t steps_taken() const { return optimizer_->steps_taken(); }
  double epochs() const { return packer_.epochs(); }
  const TrainingSettings& settings() const { return settings_; }
  const Parameters& parameters() const { return parameters_; }
  uint64_t memory_bytes() const;  // weights, gradients, optimizer, activations

  // Everything that the next step depends on, beside the data: weights, the optimizer's state, the place in the data.
  // A GGUF file that also is the model as it stands; `checkpoint` says its config and vocabulary.
  void save(const std::string& path, const Checkpoint& checkpoint) const;
  // Goes on from there: the losses to come are those of the run that was saved. Throws Error for a file of another
  // model, other data or other settings; the number of steps and the learning rate may differ.
  void resume(const std::string& path);

 private:
  double add_gradients(std::span<const Sample> batch, std::span<Observer* const> observers);
  [[noreturn]] void fail_at_non_finite(std::span<const Sample> batch, const char* what);

  Kernels& forward_;
  BackwardKernels& backward_;
  Parameters& parameters_;
  TrainingSettings settings_;
  std::string data_fingerprint_;
  GradientMaker maker_;
  std::unique_ptr<Optimizer> optimizer_;
  Dropout dropout_;
  Packer packer_;
};

}  // namespace orrery
