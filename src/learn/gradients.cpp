#include "learn/gradients.h"

#include <string>

#include "base/error.h"

namespace orrery {

double total_weight(std::span<const Sample> samples) {
  double total = 0;
  for (const Sample& sample : samples) {
    if (sample.weights.empty() && !sample.tokens.empty()) total += static_cast<double>(sample.tokens.size() - 1);
    for (const float weight : sample.weights) total += double{weight};
  }
  return total;
}

GradientMaker::GradientMaker(LanguageModel& model, Kernels& forward, BackwardKernels& backward, Parameters& parameters,
                             Activations activations)
    : model_(model),
      forward_(forward),
      tape_(forward, backward, parameters),
      arena_(activations == Activations::keep) {}

double GradientMaker::add_gradients(std::span<const Sample> samples, double divisor,
                                    std::span<Observer* const> observers,
                                    std::span<Observer* const> gradient_observers) {
  tape_.clear();
  const double quotient = forward(samples, divisor, tape_, observers);
  tape_.backward(dlosses_, gradient_observers);
  return quotient;
}

double GradientMaker::loss(std::span<const Sample> samples, double divisor) {
  return forward(samples, divisor, forward_, {});
}

double GradientMaker::forward(std::span<const Sample> samples, double divisor, Kernels& kernels,
                              std::span<Observer* const> observers) {
  std::vector<Row> rows;
  std::vector<TokenId> targets;
  dlosses_.clear();
  for (const Sample& sample : samples) {
    const size_t n_guesses = sample.tokens.empty() ? 0 : sample.tokens.size() - 1;
    if (!sample.weights.empty() && sample.weights.size() != n_guesses) {
      throw Error({.what = "a sample has not as many weights as guesses",
                   .where = "training data",
                   .expected = std::to_string(n_guesses),
                   .found = std::to_string(sample.weights.size())});
    }
    for (size_t i = 0; i < n_guesses; ++i) {
      rows.push_back({.token = sample.tokens[i], .position = static_cast<int>(i)});  // position 0: a new sequence
      targets.push_back(sample.tokens[i + 1]);
      dlosses_.push_back((sample.weights.empty() ? 1.0 : double{sample.weights[i]}) / divisor);
    }
  }
  arena_.reset();
  const Tensor logits = model_.forward(rows, kernels, arena_, observers);  // [n, vocab]
  std::vector<double> losses(rows.size());
  kernels.cross_entropy(logits, targets, losses);
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) sum += dlosses_[i] == 0 ? 0 : dlosses_[i] * losses[i];
  return sum;
}

}  // namespace orrery
