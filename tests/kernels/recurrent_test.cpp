// The fast recurrent layers against the reference in double precision: every cell, many shapes, weights of every type,
// any number of threads. That the reference is right is shown by PyTorch's numbers (tests/recurrent) and, on the way
// back, by finite differences (backward_reference_test.cpp).
#include <algorithm>

#include "kernels/fast/backward.h"
#include "kernels/recurrent_cases.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<Tensor> tensors_of(const std::vector<Numbers>& numbers) {
  std::vector<Tensor> tensors;
  for (const Numbers& one : numbers) tensors.push_back(one.tensor);
  return tensors;
}

// Small enough that no gate is saturated everywhere.
std::vector<Numbers> random_inputs(const LayerShape& shape, Random& random) {
  std::vector<Numbers> inputs;
  for (const auto& sizes : shape.inputs()) {
    inputs.push_back(Numbers::random(random, DType::F32, sizes));
    const bool is_matrix = inputs.size() == 2 || inputs.size() == 3;
    const double width = static_cast<double>(sizes.back());
    for (int64_t i = 0; is_matrix && i < n_elements(inputs.back().tensor); ++i) {
      inputs.back().floats()[i] /= static_cast<float>(std::sqrt(width));
    }
  }
  return inputs;
}

void check_layer(const LayerShape& shape, Random& random, DType matrices = DType::F32) {
  CAPTURE(std::string(name_of(shape.cell)));
  CAPTURE(shape.d_in);
  CAPTURE(shape.d_hidden);
  CAPTURE(shape.lengths.size());
  std::vector<Numbers> inputs = random_inputs(shape, random);
  for (const size_t matrix : {1, 2}) inputs[matrix] = inputs[matrix].as(matrices);
  std::vector<Numbers> exact_inputs;
  for (const Numbers& input : inputs) exact_inputs.push_back(input.as(DType::F64));
  ReferenceKernels<double> reference{Threads(1)};
  ReferenceKernels<float> plain{Threads(1)};
  const LayerRun expected(reference, shape, tensors_of(exact_inputs));
  const auto compare = [&](const LayerRun& found) {
    for (size_t i = 0; i < found.made.size(); ++i) {
      CAPTURE(std::string(found[i].name));
      const std::vector<double> a = found.made[i].doubles(), b = expected.made[i].doubles();
      double largest = 0;
      for (size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
      CHECK(largest < 1e-5);
    }
  };
  compare(LayerRun(plain, shape, tensors_of(inputs)));
  for (const InstructionSet set : instruction_sets()) {
    FastKernels fast{Threads(1), set};
    const LayerRun found(fast, shape, tensors_of(inputs));
    compare(found);
    for (const int n_threads : {2, 3}) {
      FastKernels threaded{Threads(n_threads), set};
      const LayerRun again(threaded, shape, tensors_of(inputs));
      for (size_t i = 0; i < found.made.size(); ++i) CHECK(again.made[i].same_bits(found.made[i]));
    }
  }
}

}  // namespace

TEST_CASE("fast recurrent layers: widths 1 to 40, one sequence and several, with and without a start") {
  Random random(11);
  for (int size = 1; size <= 40; ++size) {
    for (const Cell cell : kCells) {
      const int64_t other = 1 + static_cast<int64_t>(random.below(20));
      check_layer({cell, {3, 1, 7}, other, size, size % 2 == 0}, random);
      check_layer({cell, {size}, size, other, size % 2 == 1}, random);
    }
  }
}

TEST_CASE("fast recurrent layers: many sequences, so that the matrix is packed, of unequal lengths") {
  Random random(12);
  for (const Cell cell : kCells) {
    check_layer({cell, {9, 2, 14, 14, 1, 6, 13}, 19, 33, true}, random);
    check_layer({cell, std::vector<int>(61, 8), 20, 50}, random);
    check_layer({cell, {12, 12, 12, 12}, 100, 64, true}, random);
    check_layer({cell, std::vector<int>(20, 1), 16, 48, true}, random);  // a step of many sequences
  }
}

TEST_CASE("fast recurrent layers on their way back") {
  Random random(15);
  const LayerShape shapes[] = {{Cell::rnn, {9, 2, 14, 14, 1, 6, 13}, 19, 33, true},
                               {Cell::rnn, {20}, 70, 100},
                               {Cell::rnn, std::vector<int>(61, 8), 20, 50},
                               {Cell::rnn, {1, 1}, 5, 64, true}};
  for (LayerShape shape : shapes) {
    for (const Cell cell : kCells) {
      shape.cell = cell;
      CAPTURE(std::string(name_of(cell)));
      CAPTURE(shape.d_hidden);
      const std::vector<Numbers> inputs = random_inputs(shape, random);
      const Numbers dy =
          Numbers::random(random, DType::F32, {(cell == Cell::lstm ? 2 : 1) * shape.n(), shape.d_hidden});
      const auto gradients_by = [&](BackwardKernels& kernels) {
        const DType type = kernels.activation_type();
        std::vector<Numbers> converted, gradients;
        std::vector<Tensor> d;
        for (const Numbers& input : inputs) converted.push_back(input.as(type));
        for (const auto& sizes : shape.inputs()) gradients.emplace_back(type, sizes);
        for (const Numbers& gradient : gradients) d.push_back(gradient.tensor);
        layer_back(kernels, shape, tensors_of(converted), dy.as(type).tensor, d);
        return gradients;
      };
      ReferenceBackward<double> reference{Threads(1)};
      const std::vector<Numbers> expected = gradients_by(reference);
      for (const InstructionSet set : instruction_sets()) {
        FastBackward fast{Threads(1), set};
        const std::vector<Numbers> found = gradients_by(fast);
        for (size_t i = 0; i < found.size(); ++i) {
          CAPTURE(i);
          const std::vector<double> a = found[i].doubles(), b = expected[i].doubles();
          double largest = 1, difference = 0;
          for (size_t k = 0; k < a.size(); ++k) {
            largest = std::max(largest, std::abs(b[k]));
            difference = std::max(difference, std::abs(a[k] - b[k]));
          }
          CHECK(difference < 1e-5 * largest);
        }
        for (const int n_threads : {2, 3}) {
          FastBackward threaded{Threads(n_threads), set};
          const std::vector<Numbers> again = gradients_by(threaded);
          for (size_t i = 0; i < found.size(); ++i) CHECK(again[i].same_bits(found[i]));
        }
      }
    }
  }
}

TEST_CASE("fast recurrent layers: weights as they are stored") {
  Random random(13);
  for (const DType type : {DType::F16, DType::BF16, DType::Q8_0}) {
    for (const Cell cell : kCells) {
      check_layer({cell, {5, 2}, 64, 32, true}, random, type);
      check_layer({cell, {8, 8, 8, 8, 7}, 32, 64}, random, type);
    }
  }
}

TEST_CASE("the formulas of the GRU that resets before the product, written out for one unit") {
  // d_in = d_hidden = 1: every matrix is three numbers, r, z, n.
  const double wi[] = {0.5, -0.3, 0.8}, wh[] = {0.4, 0.7, -0.6}, bi[] = {0.1, 0.2, -0.1}, bh[] = {-0.2, 0.3, 0.25};
  const double x[] = {0.7, -1.1, 0.4};
  const auto numbers = [](std::vector<int64_t> shape, const double* from) {
    Numbers made(DType::F64, std::move(shape));
    std::copy_n(from, n_elements(made.tensor), values<double>(made.tensor));
    return made;
  };
  std::vector<Numbers> inputs;
  inputs.push_back(numbers({3, 1}, x));
  inputs.push_back(numbers({3, 1}, wi));
  inputs.push_back(numbers({3, 1}, wh));
  inputs.push_back(numbers({3}, bi));
  inputs.push_back(numbers({3}, bh));
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  for (const bool is_before : {true, false}) {
    ReferenceKernels<double> kernels{Threads(1)};
    const LayerShape shape{is_before ? Cell::gru_reset_before : Cell::gru, {3}, 1, 1};
    const std::vector<double> found = LayerRun(kernels, shape, tensors_of(inputs)).made.back().doubles();
    double h = 0;
    for (size_t t = 0; t < 3; ++t) {
      const double r = sigmoid(wi[0] * x[t] + bi[0] + wh[0] * h + bh[0]);
      const double z = sigmoid(wi[1] * x[t] + bi[1] + wh[1] * h + bh[1]);
      const double u = is_before ? wh[2] * (r * h) + bh[2] : r * (wh[2] * h + bh[2]);
      h = (1 - z) * std::tanh(wi[2] * x[t] + bi[2] + u) + z * h;
      CHECK(found[t] == doctest::Approx(h).epsilon(1e-14));
    }
  }
}

TEST_CASE("recurrent layers refuse what does not fit, before they touch memory") {
  Random random(14);
  const LayerShape shape{Cell::lstm, {2, 3}, 4, 6};
  const std::vector<Numbers> inputs = random_inputs(shape, random);
  const std::vector<RowRange> sequences = shape.sequences();
  FastKernels kernels{Threads(1)};
  std::vector<Numbers> made;
  for (int i = 0; i < 6; ++i) made.emplace_back(DType::F32, std::vector<int64_t>{5, 6});
  const auto try_with = [&](const auto& change) {
    RecurrentInput in = layer_input(tensors_of(inputs), sequences);
    LstmOutput y{made[0].tensor, made[1].tensor, made[2].tensor, made[3].tensor, made[4].tensor, made[5].tensor};
    change(in, y);
    kernels.lstm(in, y);
  };
  CHECK_NOTHROW(try_with([](RecurrentInput&, LstmOutput&) {}));
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.sequences = in.sequences.subspan(1); }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.sequences = in.sequences.first(1); }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.weights.hidden.shape[0] = 23; }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.weights.input.shape[1] = 3; }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.weights.hidden_bias.shape[0] = 6; }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput& in, LstmOutput&) { in.x.dtype = DType::F64; }), Error);
  CHECK_THROWS_AS(try_with([](RecurrentInput&, LstmOutput& y) { y.cell.shape[0] = 4; }), Error);
  const std::vector<RowRange> empty = {{0, 0}, {0, 5}}, far = {{0, INT64_MAX}};
  CHECK_THROWS_AS(try_with([&](RecurrentInput& in, LstmOutput&) { in.sequences = empty; }), Error);
  CHECK_THROWS_AS(try_with([&](RecurrentInput& in, LstmOutput&) { in.sequences = far; }), Error);
}
