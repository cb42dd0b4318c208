// What a training step holds for activations and for their gradients, from moment to moment.
#pragma once

#include <algorithm>
#include <vector>

#include "learn/gradients.h"
#include "plot/area_figure.h"

namespace orrery {

// To be given to GradientMaker::add_gradients as both kinds of observer: a moment is when a tensor has been computed.
class MemoryWatch : public Observer {
 public:
  explicit MemoryWatch(const GradientMaker& maker) : maker_(maker) {}

  bool wants(const Probe& probe) const override {
    return !probe.name.ends_with("weight.grad") && !probe.name.ends_with("bias.grad") &&
           !probe.name.ends_with(".scores") && !probe.name.ends_with("attn.weights");
  }
  void on_tensor(const Probe& probe, Tensor&) override {
    const size_t used = maker_.arena().used();
    most_ = std::max(most_, used);
    // On the way back, what is computed again is written where it was before.
    activations_.push_back(probe.name.ends_with(".grad") ? most_ : used);
    gradients_.push_back(maker_.tape().gradient_bytes_now());
  }

  void restart() {  // forgets what was seen
    most_ = 0;
    activations_.clear();
    gradients_.clear();
  }

  size_t most_activations() const { return most_; }
  const std::vector<size_t>& activations() const { return activations_; }  // bytes, at every moment
  const std::vector<size_t>& gradients() const { return gradients_; }      // of the activations' gradients

 private:
  const GradientMaker& maker_;
  size_t most_ = 0;
  std::vector<size_t> activations_, gradients_;
};

// The same as a picture, upon what parameters, gradients and the optimizer take: `states` bytes.
AreaFigure memory_figure(const MemoryWatch& watch, size_t states);

}  // namespace orrery
