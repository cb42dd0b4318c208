#include "learn/optimizer.h"

#include <cmath>
#include <numbers>
#include <string>

namespace orrery {

AdamWStep adamw_step(const AdamWSettings& settings, bool decays, double rate, int64_t step) {
  return {.rate = rate,
          .beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .epsilon = settings.epsilon,
          .weight_decay = decays ? settings.weight_decay : 0,
          .step = step};
}

Optimizer::Optimizer(const Parameters& parameters, const Endings& endings)
    : state_({}, parameters.all().front().weight.dtype) {
  std::vector<NamedShape> shapes;
  for (const Parameter& parameter : parameters.all()) {
    const Tensor& weight = parameter.weight;
    first_state_.push_back(shapes.size());
    for (const char* ending : endings(parameter)) {
      shapes.push_back({std::string(weight.name) + ending, {weight.shape, weight.shape + weight.n_dims}});
    }
  }
  state_ = TensorBlock(shapes, parameters.all().front().weight.dtype);
}

void AdamW::step(Parameters& parameters, BackwardKernels& kernels, double rate) {
  ++steps_taken_;
  for (size_t i = 0; i < parameters.all().size(); ++i) {
    Parameter& parameter = parameters.all()[i];
    const AdamWStep step = adamw_step(settings_, parameter.decays, rate, steps_taken_);
    kernels.adamw(step, parameter.gradient, parameter.weight, state_of(i, 0), state_of(i, 1));
  }
}

void Sgd::step(Parameters& parameters, BackwardKernels& kernels, double rate) {
  ++steps_taken_;
  SgdStep step = {.rate = rate, .momentum = settings_.momentum};
  for (size_t i = 0; i < parameters.all().size(); ++i) {
    Parameter& parameter = parameters.all()[i];
    step.weight_decay = parameter.decays ? settings_.weight_decay : 0;
    kernels.sgd(step, parameter.gradient, parameter.weight, state_of(i, 0));
  }
}

double Schedule::rate(int64_t step) const {
  if (step < warmup_steps) return highest * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  if (step >= total_steps) return lowest;
  const double done = static_cast<double>(step - warmup_steps) / static_cast<double>(total_steps - warmup_steps);
  return cosine_rate(highest, lowest, done);
}

double cosine_rate(double highest, double lowest, double done) {
  return lowest + (highest - lowest) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

}  // namespace orrery
