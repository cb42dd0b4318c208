#include "learn/optimizer.h"

#include <cmath>
#include <numbers>
#include <string>

namespace orrery {
namespace {

std::vector<NamedShape> state_shapes(const Parameters& parameters, std::initializer_list<const char*> endings) {
  std::vector<NamedShape> shapes;
  for (const Parameter& parameter : parameters.all()) {
    const Tensor& weight = parameter.weight;
    for (const char* ending : endings) {
      shapes.push_back({std::string(weight.name) + ending, {weight.shape, weight.shape + weight.n_dims}});
    }
  }
  return shapes;
}

}  // namespace

Optimizer::Optimizer(const Parameters& parameters, std::initializer_list<const char*> endings)
    : n_endings_(endings.size()), state_(state_shapes(parameters, endings), parameters.all().front().weight.dtype) {}

void AdamW::step(Parameters& parameters, BackwardKernels& kernels, double rate) {
  ++steps_taken_;
  AdamWStep step = {.rate = rate,
                    .beta1 = settings_.beta1,
                    .beta2 = settings_.beta2,
                    .epsilon = settings_.epsilon,
                    .step = steps_taken_};
  for (size_t i = 0; i < parameters.all().size(); ++i) {
    Parameter& parameter = parameters.all()[i];
    step.weight_decay = parameter.decays ? settings_.weight_decay : 0;
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
  return lowest + (highest - lowest) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

}  // namespace orrery
