// The way back in double precision against central differences: (loss(x + h) - loss(x - h)) / (2 h), where the loss is
// a sum of the outputs with random weights dy.
#include "kernels/backward_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr double kStep = 1e-5;
constexpr int kElements = 12;  // of each input are tried

struct Differences {
  const BackwardCase& which;
  ReferenceKernels<double> kernels{Threads(1)};
  std::vector<Numbers> inputs;
  Numbers dy, y;

  Differences(const BackwardCase& which_case, Random& random)
      : which(which_case),
        inputs(random_numbers(random, which.inputs)),
        dy(Numbers::random(random, DType::F64, which.output)),
        y(DType::F64, which.output) {
    which.forward(kernels, tensors_of(inputs), y.tensor);
  }

  double loss() {
    Numbers output(DType::F64, which.output);
    which.forward(kernels, tensors_of(inputs), output.tensor);
    double sum = 0;
    for (int64_t i = 0; i < n_elements(output.tensor); ++i) {
      sum += values<double>(output.tensor)[i] * values<double>(dy.tensor)[i];
    }
    return sum;
  }

  double slope(size_t input, int64_t element) {
    double& x = values<double>(inputs[input].tensor)[element];
    const double before = x;
    x = before + kStep;
    const double above = loss();
    x = before - kStep;
    const double below = loss();
    x = before;
    return (above - below) / (2 * kStep);
  }
};

void check_differences(const BackwardCase& which, Random& random) {
  CAPTURE(which.name);
  Differences differences(which, random);
  // What is in the gradients before must still be in them afterwards.
  const std::vector<Numbers> before = random_numbers(random, which.inputs);
  const std::vector<Numbers> after = as(before, DType::F64);
  std::vector<Tensor> gradients = tensors_of(after);
  ReferenceBackward<double> backward{Threads(1)};
  which.back(backward, tensors_of(differences.inputs), differences.y.tensor, differences.dy.tensor, gradients);
  for (size_t input = 0; input < before.size(); ++input) {
    const int64_t n = n_elements(before[input].tensor);
    for (int64_t tried = 0; tried < std::min<int64_t>(n, kElements); ++tried) {
      const int64_t i = n <= kElements ? tried : static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
      const double expected = differences.slope(input, i);
      const double found = after[input].doubles()[size_t(i)] - before[input].doubles()[size_t(i)];
      if (std::abs(found - expected) <= 1e-6 * (1 + std::abs(expected))) continue;
      CAPTURE(input);
      CAPTURE(i);
      CAPTURE(shape_text(before[input].tensor));
      CHECK_MESSAGE(false, "found ", found, ", expected ", expected);
      return;
    }
  }
}

}  // namespace

TEST_CASE("the way back agrees with finite differences: every operation at sizes 1 to 20 and some odd ones") {
  Random random(1);
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 31, 33, 64, 67}) {
    CAPTURE(size);
    for (const BackwardCase& which : cases_of_size(size, random)) check_differences(which, random);
  }
}

TEST_CASE("the way back agrees with finite differences: attention over several chunks and several sequences") {
  Random random(2);
  check_differences(attention_case(attention_shape(2, 1, 7), {131}), random);
  check_differences(attention_case(attention_shape(4, 2, 5), {3, 129, 1, 40}), random);
  check_differences(attention_case(attention_shape(3, 3, 3), {257, 128}), random);
  check_differences(attention_case(attention_shape(4, 2, 5, 130), {3, 270, 140}), random);
}

TEST_CASE("slopes of activations far out are 0 or 1, in float as well") {
  for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
    Numbers x(DType::F32, {6}), dy(DType::F32, {6}), dx(DType::F32, {6}), fast(DType::F32, {6});
    const float points[] = {-1e30f, -1e12f, -300, 300, 1e12f, 1e30f};
    std::copy(std::begin(points), std::end(points), x.floats());
    dy.fill(1);
    dx.fill(0);
    fast.fill(0);
    ReferenceBackward<float>{Threads(1)}.activate(activation, x.tensor, dy.tensor, dx.tensor);
    FastBackward{Threads(1)}.activate(activation, x.tensor, dy.tensor, fast.tensor);
    CHECK(dx.doubles() == std::vector<double>{0, 0, 0, 1, 1, 1});
    CHECK(fast.doubles() == std::vector<double>{0, 0, 0, 1, 1, 1});
  }
}
