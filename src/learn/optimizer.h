// What is done with gradients: SGD with momentum and AdamW, and how the learning rate goes up and down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "learn/parameters.h"

namespace orrery {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Changes all weights by what their gradients say.
  virtual void step(Parameters& parameters, BackwardKernels& kernels, double rate) = 0;

  // What it remembers from step to step: the steps taken, and tensors shaped as the weights, named after them
  // ("blk.0.attn_q.weight.mean"). An optimizer that is given the same numbers goes on as if there had been no break.
  int64_t steps_taken() const { return steps_taken_; }
  std::span<const Tensor> state() const { return state_.tensors; }
  void resume_at(int64_t steps_taken) { steps_taken_ = steps_taken; }  // after filling state()

 protected:
  // For each weight one tensor of zeros with each of these endings, side by side.
  Optimizer(const Parameters& parameters, std::initializer_list<const char*> endings);
  Tensor& state_of(size_t parameter, size_t ending) { return state_.tensors[parameter * n_endings_ + ending]; }

  int64_t steps_taken_ = 0;

 private:
  size_t n_endings_;
  TensorBlock state_;
};

struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of the weights that decay
};

class AdamW : public Optimizer {
 public:
  AdamW(const Parameters& parameters, const AdamWSettings& settings)
      : Optimizer(parameters, {".mean", ".square"}), settings_(settings) {}
  void step(Parameters& parameters, BackwardKernels& kernels, double rate) override;

 private:
  AdamWSettings settings_;
};

struct SgdSettings {
  double momentum = 0.9;
  double weight_decay = 0;
};

class Sgd : public Optimizer {
 public:
  Sgd(const Parameters& parameters, const SgdSettings& settings)
      : Optimizer(parameters, {".momentum"}), settings_(settings) {}
  void step(Parameters& parameters, BackwardKernels& kernels, double rate) override;

 private:
  SgdSettings settings_;
};

// Up in a straight line for `warmup_steps`, then down along half a cosine to `lowest` at step `total_steps`, and on at
// that.
struct Schedule {
  double highest = 1e-3;
  double lowest = 1e-4;
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;

  double rate(int64_t step) const;  // of the step after `step` steps were taken
};

}  // namespace orrery
