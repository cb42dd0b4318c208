#include "learn/dropout.h"

#include <cmath>

#include "learn/learning.h"
#include "support/expect_error.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<double> dropped(BackwardKernels& kernels, double share, uint64_t seed, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n), 3.0f);
  Tensor tensor = make_tensor("x", DType::F32, {n}, reinterpret_cast<std::byte*>(values.data()));
  kernels.drop(share, seed, tensor);
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("dropout: takes its share, keeps the mean, and depends on the seed alone") {
  ReferenceBackward<float> reference{Threads(1)};
  FastBackward fast{Threads(2)};
  constexpr int64_t n = 200'000;
  for (const double share : {0.1, 0.5, 0.9}) {
    const auto values = dropped(reference, share, 7, n);
    double zeros = 0, sum = 0, neighbours = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) CHECK(values[i] == doctest::Approx(3 / (1 - share)));
      zeros += values[i] == 0 ? 1 : 0;
      neighbours += i > 0 && values[i] == 0 && values[i - 1] == 0 ? 1 : 0;
      sum += values[i];
    }
    const double deviation = std::sqrt(share * (1 - share) / n);  // of a binomial share
    CHECK(std::abs(zeros / n - share) < 4 * deviation);
    CHECK(std::abs(neighbours / n - share * share) < 8 * deviation);  // neighbours do not know of each other
    CHECK(sum / n == doctest::Approx(3).epsilon(4 * deviation / (1 - share)));
    CHECK(dropped(fast, share, 7, n) == values);
    CHECK(dropped(reference, share, 8, n) != values);
  }
  CHECK(dropped(fast, 0, 7, 10) == std::vector<double>(10, 3.0));
}

TEST_CASE("dropout: gradients are those of the masked model, by finite differences") {
  for (int variant = 0; variant < kVariants; ++variant) {
    const ModelConfig config = small_config(variant);
    const auto checkpoint = random_model(config, DType::F32, 3);
    Learning learning(*checkpoint, DType::F64, 1);
    const Texts texts({7, 4}, config.vocab_size);
    Dropout dropout(0.3, 5, *learning.backward);
    Observer* const observers[] = {&dropout};
    const double divisor = total_weight(texts.samples);
    const auto loss = [&] {
      learning.parameters.clear_gradients(*learning.backward);
      return learning.maker->add_gradients(texts.samples, divisor, observers, observers);
    };
    const double plain = learning.maker->loss(texts.samples, divisor);
    dropout.begin(2);
    CHECK(loss() != doctest::Approx(plain).epsilon(1e-9));
    const auto gradients = learning.all_gradients();
    for (size_t p = 0; p < gradients.size(); ++p) {
      const Tensor& weight = learning.parameters.all()[p].weight;
      const auto element = static_cast<size_t>(n_elements(weight) / 3);
      double& value = values<double>(weight)[element];
      const double before = value, step = 1e-5;
      value = before + step;
      const double above = loss();
      value = before - step;
      const double below = loss();
      value = before;
      CAPTURE(weight.name);
      CHECK(gradients[p][element] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-6));
    }
    dropout.begin(3);  // another call, another mask
    CHECK(loss() != doctest::Approx(plain).epsilon(1e-9));
    CHECK(learning.all_gradients() != gradients);
  }
}

TEST_CASE("dropout: computing activations again gives the same gradients") {
  for (int variant = 0; variant < kVariants; ++variant) {
    const ModelConfig config = small_config(variant);
    const auto checkpoint = random_model(config, DType::F32, 3);
    const Texts texts({9, 5, 2}, config.vocab_size);
    std::vector<std::vector<std::vector<double>>> gradients;
    for (const Activations activations : {Activations::keep, Activations::compute}) {
      Learning learning(*checkpoint, DType::F32, 1, activations);
      Dropout dropout(0.25, 5, *learning.backward);
      Observer* const observers[] = {&dropout};
      learning.maker->repeat_with(&dropout);
      learning.parameters.clear_gradients(*learning.backward);
      learning.maker->add_gradients(texts.samples, total_weight(texts.samples), observers, observers);
      gradients.push_back(learning.all_gradients());
      if (activations == Activations::compute) CHECK(learning.maker->tape().repeated_calls() > 0);
    }
    CHECK(gradients[0] == gradients[1]);
  }
}

TEST_CASE("dropout: of all, or of less than nothing, is refused") {
  FastBackward kernels{Threads(1)};
  CHECK_ERROR(Dropout(1, 1, kernels), "dropout", "found 1");
  CHECK_ERROR(Dropout(-0.1, 1, kernels), "dropout");
}
