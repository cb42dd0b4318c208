// Muon: its steps have the directions of the momentum, all of nearly one length.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "learn/learning.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Matrix = std::vector<std::vector<double>>;  // its columns

// `count` columns of `length` that are orthonormal: Gram and Schmidt on random ones.
Matrix orthonormal(int64_t length, int64_t count, Random& random) {
  Matrix columns;
  while (static_cast<int64_t>(columns.size()) < count) {
    std::vector<double> column(static_cast<size_t>(length));
    for (double& value : column) value = random.uniform() - 0.5;
    for (int twice = 0; twice < 2; ++twice) {
      for (const auto& other : columns) {
        double dot = 0;
        for (size_t i = 0; i < column.size(); ++i) dot += column[i] * other[i];
        for (size_t i = 0; i < column.size(); ++i) column[i] -= dot * other[i];
      }
    }
    const double size = test::length(column);
    for (double& value : column) value /= size;
    columns.push_back(column);
  }
  return columns;
}

// u diag(s) v^T, row by row
std::vector<double> product(const Matrix& u, const std::vector<double>& s, const Matrix& v) {
  std::vector<double> result;
  for (size_t i = 0; i < u[0].size(); ++i) {
    for (size_t j = 0; j < v[0].size(); ++j) {
      double sum = 0;
      for (size_t k = 0; k < s.size(); ++k) sum += u[k][i] * s[k] * v[k][j];
      result.push_back(sum);
    }
  }
  return result;
}

// What becomes of one singular value.
double iterated(double s) {
  for (int round = 0; round < 5; ++round) s = 3.4445 * s - 4.7750 * std::pow(s, 3) + 2.0315 * std::pow(s, 5);
  return s;
}

void set(const Tensor& tensor, const std::vector<double>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) set_element(tensor, static_cast<int64_t>(i), numbers[i]);
}

std::vector<double> orthogonalized(const std::vector<double>& numbers, int64_t rows, int64_t columns, DType dtype,
                                   BackwardKernels& kernels) {
  TensorBlock block({{"x", {rows, columns}}}, dtype);
  set(block.tensors[0], numbers);
  TensorBlock workspace = orthogonalize_workspace(rows, columns, dtype);
  orthogonalize(block.tensors[0], workspace, kernels);
  return test::numbers(block.tensors[0]);
}

}  // namespace

TEST_CASE("Muon: a matrix keeps its singular vectors, and all singular values come near 1") {
  Random random(3);
  ReferenceBackward<double> exact(Threads(1));
  FastBackward fast(Threads(2));
  const std::pair<int64_t, int64_t> shapes[] = {{5, 5}, {9, 4}, {4, 9}, {1, 6}, {6, 1}, {40, 17}};
  for (const auto& [rows, columns] : shapes) {
    CAPTURE(rows);
    CAPTURE(columns);
    const int64_t rank = std::min(rows, columns);
    const Matrix u = orthonormal(rows, rank, random), v = orthonormal(columns, rank, random);
    std::vector<double> s, after;
    for (int64_t k = 0; k < rank; ++k) s.push_back(3 * (0.02 + random.uniform()));
    for (const double value : s) after.push_back(iterated(value / length(s)));
    const std::vector<double> x = product(u, s, v), expected = product(u, after, v);
    CHECK(largest_difference(orthogonalized(x, rows, columns, DType::F64, exact), expected) < 1e-12);
    CHECK(largest_difference(orthogonalized(x, rows, columns, DType::F32, fast), expected) < 1e-4);
    // What the header promises.
    for (size_t k = 0; k < s.size(); ++k) {
      if (s[k] / length(s) > 0.02) CHECK((after[k] > 0.67 && after[k] < 1.15));
    }
  }
  CHECK(orthogonalized({0, 0, 0, 0}, 2, 2, DType::F64, exact) == std::vector<double>(4, 0.0));
}

TEST_CASE("Muon: a step by its formula, and AdamW's for embeddings, heads, gains and biases") {
  const ModelConfig config = small_config(5);
  const auto checkpoint = random_model(config, DType::F32);
  const MuonSettings settings{.momentum = 0.8, .others = {.weight_decay = 0.3}};
  Learning by_muon(*checkpoint, DType::F64, 1), by_adamw(*checkpoint, DType::F64, 1);
  Muon muon(by_muon.parameters, settings);
  AdamW adamw(by_adamw.parameters, settings.others);
  const Texts texts({25}, config.vocab_size);
  constexpr double kRate = 0.01;

  std::vector<std::vector<double>> momenta(by_muon.parameters.all().size());
  for (int step = 0; step < 3; ++step) {
    by_muon.gradients(texts.samples);
    int matrices = 0;
    std::vector<std::vector<double>> expected;
    for (size_t i = 0; i < momenta.size(); ++i) {
      const Parameter& parameter = by_muon.parameters.all()[i];
      // Both optimizers are given the same weights and gradients in each step.
      const Parameter& same = by_adamw.parameters.all()[i];
      std::memcpy(same.weight.data, parameter.weight.data, n_bytes(same.weight));
      std::memcpy(same.gradient.data, parameter.gradient.data, n_bytes(same.gradient));
      std::vector<double> weight = numbers(parameter.weight);
      const bool is_matrix = std::string(parameter.weight.name).starts_with("blk.") && parameter.weight.n_dims == 2;
      if (is_matrix) {
        ++matrices;
        const std::vector<double> gradient = numbers(parameter.gradient);
        momenta[i].resize(gradient.size());
        std::vector<double> direction(gradient.size());
        for (size_t j = 0; j < gradient.size(); ++j) {
          momenta[i][j] = 0.8 * momenta[i][j] + gradient[j];
          direction[j] = gradient[j] + 0.8 * momenta[i][j];
        }
        const int64_t rows = parameter.weight.shape[0], columns = parameter.weight.shape[1];
        direction = orthogonalized(direction, rows, columns, DType::F64, *by_muon.backward);
        const double size = 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
        for (size_t j = 0; j < weight.size(); ++j) {
          weight[j] = weight[j] * (1 - kRate * 0.3) - kRate * size * direction[j];
        }
      }
      expected.push_back(weight);
    }
    CHECK(matrices == 6 * config.n_layers);  // q, k, v, output, up, down
    muon.step(by_muon.parameters, *by_muon.backward, kRate);
    adamw.step(by_adamw.parameters, *by_adamw.backward, kRate);
    for (size_t i = 0; i < momenta.size(); ++i) {
      const Tensor& weight = by_muon.parameters.all()[i].weight;
      CAPTURE(weight.name);
      const bool is_matrix = !momenta[i].empty();
      const std::vector<double> other = is_matrix ? expected[i] : numbers(by_adamw.parameters.all()[i].weight);
      CHECK(largest_difference(numbers(weight), other) < 1e-13);
    }
  }
}
