#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "learn/optimizer.h"

namespace orrery {
namespace {

// A matrix between hidden values. Embeddings and heads have a row for each token, and only a few get a gradient.
bool is_hidden_matrix(const Parameter& parameter) {
  const std::string_view name = parameter.weight.name;
  return parameter.weight.n_dims == 2 && !name.starts_with("token_embd") && !name.starts_with("position_embd") &&
         !name.starts_with("output");
}

void copy(const Tensor& from, Tensor& to, BackwardKernels& kernels) {
  kernels.clear(to);
  kernels.add(from, to);
}

void set_identity(Tensor& square) {  // from zeros
  for (int64_t i = 0; i < square.shape[0]; ++i) set_element(square, i * square.shape[1] + i, 1);
}

// Where the tensors of a workspace stand.
enum Place { kSmallIdentity, kLongIdentity, kStep, kTall, kNext, kSquare, kPolynomial };

}  // namespace

TensorBlock orthogonalize_workspace(int64_t rows, int64_t columns, DType dtype) {
  const int64_t tall = std::max(rows, columns), small = std::min(rows, columns);
  TensorBlock workspace({{"small_identity", {small, small}},
                         {"long_identity", {tall, tall}},
                         {"step", {rows, columns}},
                         {"tall", {tall, small}},
                         {"next", {tall, small}},
                         {"square", {small, small}},
                         {"polynomial", {small, small}}},
                        dtype);
  set_identity(workspace.tensors[kSmallIdentity]);
  set_identity(workspace.tensors[kLongIdentity]);
  return workspace;
}

void orthogonalize(Tensor& x, TensorBlock& workspace, BackwardKernels& kernels) {
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  const double length = std::sqrt(kernels.sum_of_squares(x));
  if (length == 0) return;       // no direction, no step
  kernels.scale(1 / length, x);  // no singular value is above 1 now

  std::span<Tensor> w = workspace.tensors;
  // The smaller of the two products is the cheaper one: a wide matrix is turned first, by a product with the identity.
  const bool is_wide = x.shape[0] < x.shape[1];
  kernels.clear(w[kTall]);
  if (is_wide) {
    kernels.matmul_weight(x, w[kSmallIdentity], w[kTall]);
  } else {
    kernels.add(x, w[kTall]);
  }
  for (int round = 0; round < 5; ++round) {
    kernels.clear(w[kSquare]);
    kernels.matmul_weight(w[kTall], w[kTall], w[kSquare]);  // x^T x
    copy(w[kSquare], w[kPolynomial], kernels);
    kernels.scale(b / c, w[kPolynomial]);
    kernels.matmul_input(w[kSquare], w[kSquare], w[kPolynomial]);  // b/c x^T x + (x^T x)^2
    kernels.scale(c, w[kPolynomial]);
    copy(w[kTall], w[kNext], kernels);
    kernels.scale(a, w[kNext]);
    kernels.matmul_input(w[kTall], w[kPolynomial], w[kNext]);
    std::swap(w[kTall], w[kNext]);
  }
  kernels.clear(x);
  if (is_wide) {
    kernels.matmul_weight(w[kTall], w[kLongIdentity], x);
  } else {
    kernels.add(w[kTall], x);
  }
}

Muon::Muon(const Parameters& parameters, const MuonSettings& settings)
    : Optimizer(parameters,
                [](const Parameter& parameter) {
                  return is_hidden_matrix(parameter) ? std::vector{".momentum"} : std::vector{".mean", ".square"};
                }),
      settings_(settings) {}

void Muon::step(Parameters& parameters, BackwardKernels& kernels, double rate) {
  ++steps_taken_;
  for (size_t i = 0; i < parameters.all().size(); ++i) {
    Parameter& parameter = parameters.all()[i];
    if (is_hidden_matrix(parameter)) {
      matrix_step(parameter.gradient, parameter.weight, state_of(i, 0), kernels, rate);
    } else {
      const AdamWStep step = adamw_step(settings_.others, parameter.decays, rate, steps_taken_);
      kernels.adamw(step, parameter.gradient, parameter.weight, state_of(i, 0), state_of(i, 1));
    }
  }
}

void Muon::matrix_step(const Tensor& gradient, Tensor& weight, Tensor& momentum, BackwardKernels& kernels,
                       double rate) {
  const int64_t rows = weight.shape[0], columns = weight.shape[1];
  auto [place, is_new] = workspaces_.try_emplace({rows, columns}, std::vector<NamedShape>{}, weight.dtype);
  if (is_new) place->second = orthogonalize_workspace(rows, columns, weight.dtype);
  Tensor& step = place->second.tensors[kStep];

  kernels.scale(settings_.momentum, momentum);
  kernels.add(gradient, momentum);
  copy(momentum, step, kernels);  // Nesterov: as if the next gradient were this one
  kernels.scale(settings_.momentum, step);
  kernels.add(gradient, step);
  orthogonalize(step, place->second, kernels);

  // An orthogonal matrix has elements of 1 / sqrt(the longer side) on average; AdamW's are some 0.2.
  const double size = 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
  kernels.scale(1 - rate * settings_.others.weight_decay, weight);
  kernels.scale(-rate * size, step);
  kernels.add(step, weight);
}

}  // namespace orrery
