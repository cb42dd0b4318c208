#include "learn/recurrent_initialization.h"

#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "kernels/recurrent.h"

namespace orrery {
namespace {

double uniform(Random& random, double limit) { return limit * (2 * random.uniform() - 1); }

// Normal rows, each made orthogonal to those before it, twice for the sake of rounding, and of length 1.
void fill_orthogonal(const Tensor& square, Random& random) {
  const auto n = static_cast<size_t>(square.shape[1]);
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    std::vector<double>& row = rows[i];
    for (double& value : row) value = random.normal();
    for (size_t pass = 0; pass < 2 * i; ++pass) {
      const std::vector<double>& other = rows[pass % i];
      double dot = 0;
      for (size_t k = 0; k < n; ++k) dot += row[k] * other[k];
      for (size_t k = 0; k < n; ++k) row[k] -= dot * other[k];
    }
    double squares = 0;
    for (const double value : row) squares += value * value;
    for (size_t k = 0; k < n; ++k) {
      row[k] /= std::sqrt(squares);
      set_element(square, static_cast<int64_t>(i * n + k), row[k]);
    }
  }
}

}  // namespace

void initialize_recurrent(Parameters& parameters, const ModelConfig& config, uint64_t seed,
                          const RecurrentInitialization& options) {
  Random random(seed);
  const double limit = 1 / std::sqrt(static_cast<double>(config.d_hidden));
  for (const Parameter& parameter : parameters.all()) {
    const Tensor& weight = parameter.weight;
    const std::string name = weight.name;
    const bool is_embedding = name == "token_embd.weight" && !config.tied_head;
    for (int64_t i = 0; i < n_elements(weight); ++i) {
      set_element(weight, i, is_embedding ? random.normal() : uniform(random, limit));
    }
    if (options.orthogonal && name.ends_with("cell_hh.weight")) {
      for (int64_t row = 0; row < weight.shape[0]; row += config.d_hidden) {
        fill_orthogonal(slice_rows(weight, row, config.d_hidden), random);
      }
    }
    if (config.architecture == Architecture::lstm && name.ends_with("cell_ih.bias")) {
      const int64_t first = static_cast<int64_t>(LstmGate::forget) * config.d_hidden;
      for (int64_t i = first; i < first + config.d_hidden; ++i) {
        set_element(weight, i, element(weight, i) + options.forget_bias);
      }
    }
  }
}

std::string description(const ModelConfig& config, const RecurrentInitialization& options) {
  std::string text = options.orthogonal ? "uniform, orthogonal for the hidden state" : "uniform";
  if (config.architecture == Architecture::lstm) text += ", forget bias " + fixed(options.forget_bias, 2);
  return text;
}

}  // namespace orrery
