// What optimizers ask of the kernels, against numbers worked out elsewhere.
#include <fstream>

#include <nlohmann/json.hpp>

#include "kernels/backward_support.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

namespace {

std::vector<std::unique_ptr<BackwardKernels>> all_kernels() {
  std::vector<std::unique_ptr<BackwardKernels>> all;
  all.push_back(std::make_unique<ReferenceBackward<double>>(Threads(1)));
  all.push_back(std::make_unique<ReferenceBackward<float>>(Threads(1)));
  for (const InstructionSet set : instruction_sets()) all.push_back(std::make_unique<FastBackward>(Threads(2), set));
  return all;
}

// A vector of n equal numbers: every position of the loops has to come out the same.
Numbers equal_numbers(DType dtype, int64_t n, double value) {
  Numbers numbers(DType::F64, {n});
  std::fill_n(values<double>(numbers.tensor), n, value);
  return numbers.as(dtype);
}

}  // namespace

TEST_CASE("AdamW takes the steps of tests/data/numbers/training.json") {
  std::ifstream file(std::string(ORRERY_TEST_DATA) + "/numbers/training.json");
  const json expected = json::parse(file)["adamw"];
  for (const auto& kernels : all_kernels()) {
    const DType dtype = kernels->activation_type();
    const double tolerance = dtype == DType::F64 ? 1e-12 : 1e-6;
    for (const int64_t n : {1, 7, 20000}) {
      Numbers w = equal_numbers(dtype, n, expected["w0"]), g = equal_numbers(dtype, n, expected["grad_each_step"]);
      Numbers mean = equal_numbers(dtype, n, 0), square = equal_numbers(dtype, n, 0);
      AdamWStep step = {.rate = expected["lr"],
                        .beta1 = expected["betas"][0],
                        .beta2 = expected["betas"][1],
                        .epsilon = expected["eps"],
                        .weight_decay = expected["weight_decay"],
                        .step = 0};
      for (const double after : expected["w_after"]) {
        ++step.step;
        kernels->adamw(step, g.tensor, w.tensor, mean.tensor, square.tensor);
        for (const double found : w.doubles()) {
          if (std::abs(found - after) > tolerance) CHECK(found == doctest::Approx(after).epsilon(tolerance));
        }
      }
    }
  }
}

TEST_CASE("SGD with momentum and weight decay") {
  for (const auto& kernels : all_kernels()) {
    const DType dtype = kernels->activation_type();
    Numbers w = equal_numbers(dtype, 19, 1), g = equal_numbers(dtype, 19, 0.5), momentum = equal_numbers(dtype, 19, 0);
    const SgdStep step = {.rate = 0.1, .momentum = 0.9, .weight_decay = 0.01};
    kernels->sgd(step, g.tensor, w.tensor, momentum.tensor);
    kernels->sgd(step, g.tensor, w.tensor, momentum.tensor);
    // b = 0.5 + 0.01 = 0.51, w = 1 - 0.051 = 0.949; b = 0.9 * 0.51 + 0.5 + 0.00949 = 0.96849, w = 0.949 - 0.096849
    for (const double found : w.doubles()) CHECK(found == doctest::Approx(0.852151).epsilon(1e-6));
    for (const double found : momentum.doubles()) CHECK(found == doctest::Approx(0.96849).epsilon(1e-6));
  }
}

TEST_CASE("sums of squares, scaling, clearing") {
  Random random(1);
  for (const auto& kernels : all_kernels()) {
    for (const int64_t n : {1, 15, 50000}) {
      Numbers x = Numbers::random(random, DType::F32, {n}).as(kernels->activation_type());
      double sum = 0;
      for (const double value : x.doubles()) sum += value * value;
      CHECK(kernels->sum_of_squares(x.tensor) == doctest::Approx(sum).epsilon(1e-12));
      const std::vector<double> before = x.doubles();
      kernels->scale(0.5, x.tensor);
      for (size_t i = 0; i < before.size(); ++i) {
        if (x.doubles().size() > 100 && i > 100) break;
        CHECK(x.doubles()[i] == before[i] / 2);
      }
      kernels->clear(x.tensor);
      CHECK(kernels->sum_of_squares(x.tensor) == 0);
    }
  }
}
