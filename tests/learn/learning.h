// What the tests of learning share: a model on weights in training, and texts.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/backward.h"
#include "kernels/reference/reference_kernels.h"
#include "learn/gradients.h"
#include "learn/optimizer.h"
#include "learn/parameters.h"
#include "model/transformer.h"
#include "support/models.h"

namespace orrery::test {

// Everything that a training step needs, for one type and number of threads.
struct Learning {
  // F32: the fast kernels, or (`plain`) the reference; F64: the reference.
  Learning(const Checkpoint& checkpoint, DType dtype, int n_threads, Activations activations = Activations::keep,
           bool plain = false)
      : parameters(checkpoint.config, dtype) {
    const Threads threads(n_threads);
    if (dtype == DType::F64) {
      forward = std::make_unique<ReferenceKernels<double>>(threads);
      backward = std::make_unique<ReferenceBackward<double>>(threads);
    } else if (plain) {
      forward = std::make_unique<ReferenceKernels<float>>(threads);
      backward = std::make_unique<ReferenceBackward<float>>(threads);
    } else {
      forward = std::make_unique<FastKernels>(threads);
      backward = std::make_unique<FastBackward>(threads);
    }
    parameters.copy_weights(checkpoint);
    model = std::make_unique<Transformer>(std::make_shared<const Checkpoint>(parameters.checkpoint(checkpoint.config)));
    maker = std::make_unique<GradientMaker>(*model, *forward, *backward, parameters, activations);
  }

  // Gradients of the mean loss; returns it.
  double gradients(std::span<const Sample> samples) {
    parameters.clear_gradients(*backward);
    return maker->add_gradients(samples, total_weight(samples));
  }
  std::vector<std::vector<double>> all_gradients() const {
    std::vector<std::vector<double>> all;
    for (const Parameter& parameter : parameters.all()) all.push_back(numbers(parameter.gradient));
    return all;
  }

  Parameters parameters;
  std::unique_ptr<Kernels> forward;
  std::unique_ptr<BackwardKernels> backward;
  std::unique_ptr<Transformer> model;
  std::unique_ptr<GradientMaker> maker;
};

// Random texts of these lengths.
struct Texts {
  Texts(const std::vector<int>& lengths, int vocab_size, uint64_t seed = 1) {
    for (const int length : lengths) tokens.push_back(random_ids(length, vocab_size, seed++));
    for (const auto& text : tokens) samples.push_back({text});
  }
  std::vector<std::vector<TokenId>> tokens;
  std::vector<Sample> samples;
};

inline double distance(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double squares = 0;
  for (size_t i = 0; i < found.size(); ++i) squares += (found[i] - expected[i]) * (found[i] - expected[i]);
  return std::sqrt(squares);
}

inline double length(const std::vector<double>& numbers) {
  return distance(numbers, std::vector<double>(numbers.size(), 0.0));
}

inline double relative_distance(const std::vector<double>& found, const std::vector<double>& expected) {
  return distance(found, expected) / (length(expected) + 1e-30);
}

}  // namespace orrery::test
