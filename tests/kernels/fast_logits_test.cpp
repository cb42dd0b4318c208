#include "kernels/fast_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

void check_largest(const Numbers& logits, int64_t count) {
  FastKernels fast{Threads(2)};
  ReferenceKernels<float> reference{Threads(1)};
  const auto found = fast.largest(logits.tensor, count), expected = reference.largest(logits.tensor, count);
  REQUIRE(found.size() == expected.size());
  int n_wrong = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    n_wrong += found[i].id != expected[i].id || found[i].value != expected[i].value;
  }
  CAPTURE(count);
  CAPTURE(n_elements(logits.tensor));
  CHECK(n_wrong == 0);
}

}  // namespace

TEST_CASE("fast largest: all sizes and counts, ties by lowest id") {
  Random random(1);
  for (int64_t n = 1; n <= 200; n += n < 70 ? 1 : 13) {
    Numbers logits = Numbers::random(random, DType::F32, {n});
    for (const int64_t count : {int64_t{0}, int64_t{1}, n / 2, n - 1, n, n + 5}) check_largest(logits, count);
    // Many equal values, zeros of both signs among them.
    for (int64_t i = 0; i < n; ++i)
      logits.floats()[i] = static_cast<float>(static_cast<int>(random.below(5)) - 2) * 0.5f;
    for (int64_t i = 0; i < n; i += 3) logits.floats()[i] = -logits.floats()[i];
    for (const int64_t count : {int64_t{1}, n / 3, n}) check_largest(logits, count);
  }
  for (const int64_t n : {49152, 151936}) {
    const Numbers logits = Numbers::random(random, DType::F32, {1, n});
    for (const int64_t count : {int64_t{1}, int64_t{40}, int64_t{1000}, n / 4, n, n + 1}) check_largest(logits, count);
  }
}

TEST_CASE("fast largest: infinities are ordinary, NaN does not hide") {
  FastKernels kernels{Threads(1)};
  Numbers logits(DType::F32, {5});
  const float numbers[] = {-kInfinity, 3, kInfinity, -1e38f, 2};
  std::copy(std::begin(numbers), std::end(numbers), logits.floats());
  const auto sorted = kernels.largest(logits.tensor, 5);
  const int32_t ids[] = {2, 1, 4, 3, 0};
  for (size_t i = 0; i < 5; ++i) CHECK(sorted[i].id == ids[i]);
  logits.floats()[4] = -kNaN;  // of either sign
  CHECK(kernels.largest(logits.tensor, 1)[0].id == 4);
}

TEST_CASE("fast first_non_finite: the first in the order of rows, none") {
  FastKernels kernels{Threads(1)};
  Numbers x(DType::F32, {3, 300});
  x.fill(3.4e38f);
  CHECK(kernels.first_non_finite(x.tensor) == -1);
  for (const float value : {kNaN, kInfinity, -kInfinity, -kNaN}) {
    for (const int64_t index : {899, 640, 299, 64, 63, 0}) {
      x.floats()[index] = value;
      CHECK(kernels.first_non_finite(x.tensor) == index);
    }
    x.fill(0);
  }
  Tensor part = x.tensor;
  part.shape[1] = 200;
  x.floats()[250] = kNaN;  // between the rows
  CHECK(kernels.first_non_finite(part) == -1);
  x.floats()[607] = kNaN;
  CHECK(kernels.first_non_finite(part) == 407);
}

TEST_CASE("fast cross_entropy: in nats, against double") {
  Random random(2);
  for (const int64_t vocab : {1, 2, 33, 70, 49152}) {
    Numbers logits = Numbers::random(random, DType::F32, {5, vocab});
    for (int64_t i = 0; i < vocab; ++i) logits.floats()[i] *= 30;
    std::vector<int32_t> targets;
    for (int i = 0; i < 5; ++i) targets.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(vocab))));
    std::vector<double> expected(5), first;
    ReferenceKernels<double>{Threads(1)}.cross_entropy(logits.as(DType::F64).tensor, targets, expected);
    for (const InstructionSet set : instruction_sets()) {
      for (int n_threads = 1; n_threads <= 3; ++n_threads) {
        std::vector<double> losses(5);
        FastKernels{Threads(n_threads), set}.cross_entropy(logits.tensor, targets, losses);
        check_close(losses, expected, 1e-7, 1e-6);
        if (n_threads == 1) first = losses;
        CHECK(losses == first);
      }
    }
    logits.floats()[vocab / 2] = kNaN;
    std::vector<double> losses(5);
    FastKernels{Threads(1)}.cross_entropy(logits.tensor, targets, losses);
    CHECK(std::isnan(losses[0]));
  }
}
