// What is done with gradients: SGD with momentum, AdamW and Muon, and how the learning rate goes up and down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

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
  // What is to be remembered of a weight: a tensor of zeros for each of these endings.
  using Endings = std::function<std::vector<const char*>(const Parameter& parameter)>;
  Optimizer(const Parameters& parameters, const Endings& endings);
  // The weight's tensor with the ending that stands at this place.
  Tensor& state_of(size_t parameter, size_t ending) { return state_.tensors[first_state_[parameter] + ending]; }

  int64_t steps_taken_ = 0;

 private:
  std::vector<size_t> first_state_;  // of each weight, among the tensors
  TensorBlock state_;
};

struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of the weights that decay
};

// What one weight's step is made of.
AdamWStep adamw_step(const AdamWSettings& settings, bool decays, double rate, int64_t step);

class AdamW : public Optimizer {
 public:
  AdamW(const Parameters& parameters, const AdamWSettings& settings)
      : Optimizer(parameters,
                  [](const Parameter&) {
                    return std::vector{".mean", ".square"};
                  }),
        settings_(settings) {}
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
      : Optimizer(parameters, [](const Parameter&) { return std::vector{".momentum"}; }), settings_(settings) {}
  void step(Parameters& parameters, BackwardKernels& kernels, double rate) override;

 private:
  SgdSettings settings_;
};

struct MuonSettings {
  double momentum = 0.95;
  AdamWSettings others;  // for what is no matrix inside the model; its weight decay counts for all
};

// Muon (Jordan et al., 2024, kellerjordan.github.io/posts/muon): the step of a matrix is its momentum made orthogonal,
// so that every direction that the gradient has counts the same, also those that few tokens speak for. Made as large as
// AdamW's steps usually are, so that both share one learning rate (Liu et al., 2025, arXiv:2502.16982). Embeddings,
// heads, gains and biases take AdamW's step.
class Muon : public Optimizer {
 public:
  Muon(const Parameters& parameters, const MuonSettings& settings);
  void step(Parameters& parameters, BackwardKernels& kernels, double rate) override;

 private:
  void matrix_step(const Tensor& gradient, Tensor& weight, Tensor& momentum, BackwardKernels& kernels, double rate);

  MuonSettings settings_;
  std::map<std::pair<int64_t, int64_t>, TensorBlock> workspaces_;  // for each shape
};

// x[rows, columns] = U V^T of its singular value decomposition U S V^T, nearly: singular values come to lie between
// 0.68 and 1.14 (those that were not tiny), by five rounds of x = x (a I + b x^T x + c (x^T x)^2), the Newton-Schulz
// iteration with Muon's coefficients. `workspace`: see orthogonalize_workspace.
void orthogonalize(Tensor& x, TensorBlock& workspace, BackwardKernels& kernels);
TensorBlock orthogonalize_workspace(int64_t rows, int64_t columns, DType dtype);

// Up in a straight line for `warmup_steps`, then down along half a cosine to `lowest` at step `total_steps`, and on at
// that.
struct Schedule {
  double highest = 1e-3;
  double lowest = 1e-4;
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;

  double rate(int64_t step) const;  // of the step after `step` steps were taken
};
// Half a cosine: the highest rate where nothing is done (0), the lowest where all is (1).
double cosine_rate(double highest, double lowest, double done);

}  // namespace orrery
