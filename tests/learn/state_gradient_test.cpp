// What is left of a first state: against powers of a matrix, and against slopes.
#include "learn/state_gradient.h"

#include <cmath>

#include <doctest/doctest.h>

#include "learn/learning.h"
#include "recurrent/recurrent_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

Tensor random_rows(Arena& arena, DType dtype, int64_t rows, int64_t columns) {
  Tensor x = arena.make("x", dtype, {rows, columns});
  Random random(5);
  for (int64_t i = 0; i < rows * columns; ++i) set_element(x, i, random.normal());
  return x;
}

}  // namespace

TEST_CASE("without input a plain network multiplies by its matrix, again and again") {
  Learner learner(small_recurrent_config(Architecture::rnn), DType::F64, Threads(1), 3);
  const RecurrentWeights weights = recurrent_weights(learner.parameters, 0);
  for (const Tensor& bias : {weights.input_bias, weights.hidden_bias}) {
    for (int64_t i = 0; i < n_elements(bias); ++i) values<double>(bias)[i] = 0;
  }
  constexpr int64_t d = 32;
  std::vector<double> power(d * d);
  for (int64_t i = 0; i < d; ++i) power[size_t(i * d + i)] = 1;
  for (int64_t steps = 1; steps <= 5; ++steps) {
    std::vector<double> product(d * d);
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        double& sum = product[size_t(i * d + j)];
        for (int64_t k = 0; k < d; ++k) sum += values<double>(weights.hidden)[i * d + k] * power[size_t(k * d + j)];
        squares += sum * sum;
      }
    }
    power = product;
    Arena arena;
    Tensor x = arena.make("x", DType::F64, {steps, d});
    learner.backward->clear(x);
    CHECK(state_gradient_norm(learner, x) == doctest::Approx(std::sqrt(squares / d)).epsilon(1e-12));
  }
}

TEST_CASE(
    "what is left of the first state is the slope of the last one, for every cell and an embedding of any width") {
  for (const Architecture architecture : kRecurrent) {
    CAPTURE(std::string(name_of(architecture)));
    Learner learner(small_recurrent_config(architecture, 1), DType::F64, Threads(1), 3);
    const int64_t d = learner.config.d_hidden, steps = 4;
    Arena arena;
    const Tensor x = random_rows(arena, DType::F64, steps, learner.config.d_model);
    std::vector<Row> rows;
    for (int t = 0; t < steps; ++t) rows.push_back({0, t});
    const auto last = [&](int64_t unit, double moved) {
      Tensor hidden = arena.make("hidden", DType::F64, {1, d}), cell = arena.make("cell", DType::F64, {1, d});
      learner.backward->clear(hidden);
      learner.backward->clear(cell);
      values<double>(hidden)[unit] = moved;
      const RecurrentPass pass{.rows = rows, .kernels = *learner.forward, .arena = arena, .sequences = {{0, steps}}};
      const Tensor states =
          recurrent_layer(pass, architecture, 0, recurrent_weights(learner.parameters, 0), {hidden, cell}, x).hidden;
      return numbers(slice_rows(states, steps - 1, 1));
    };
    double squares = 0;
    for (int64_t unit = 0; unit < d; ++unit) {
      const std::vector<double> above = last(unit, 1e-5), below = last(unit, -1e-5);
      for (size_t i = 0; i < above.size(); ++i) squares += std::pow((above[i] - below[i]) / 2e-5, 2);
    }
    CHECK(state_gradient_norm(learner, x) ==
          doctest::Approx(std::sqrt(squares / static_cast<double>(d))).epsilon(1e-7));

    Learner single(small_recurrent_config(architecture, 1), DType::F32, Threads(2), 3);
    const Tensor same = random_rows(arena, DType::F32, steps, learner.config.d_model);
    CHECK(state_gradient_norm(single, same) == doctest::Approx(state_gradient_norm(learner, x)).epsilon(1e-4));
  }
}
