// The fast way back against the double-precision reference, with every instruction set and any number of threads.
#include "kernels/backward_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<Numbers> gradients_by(BackwardKernels& kernels, const BackwardCase& which,
                                  const std::vector<Numbers>& inputs, const Numbers& y, const Numbers& dy,
                                  const std::vector<Numbers>& before) {
  std::vector<Numbers> gradients = as(before, kernels.activation_type());
  std::vector<Tensor> tensors = tensors_of(gradients);
  which.back(kernels, tensors_of(as(inputs, kernels.activation_type())), y.as(kernels.activation_type()).tensor,
             dy.as(kernels.activation_type()).tensor, tensors);
  return gradients;
}

// `tolerance` is relative to the largest number of each gradient.
void check_fast(const BackwardCase& which, Random& random, double tolerance = 1e-5) {
  CAPTURE(which.name);
  // Numbers that are the same as float and as double.
  const std::vector<Numbers> inputs = as(as(random_numbers(random, which.inputs), DType::F32), DType::F64);
  const std::vector<Numbers> before = as(as(random_numbers(random, which.inputs), DType::F32), DType::F64);
  const Numbers dy = Numbers::random(random, DType::F32, which.output).as(DType::F64);
  Numbers y(DType::F64, which.output);
  ReferenceKernels<double> forward{Threads(1)};
  which.forward(forward, tensors_of(inputs), y.tensor);

  ReferenceBackward<double> reference{Threads(2)};
  ReferenceBackward<float> plain{Threads(2)};
  const std::vector<Numbers> expected = gradients_by(reference, which, inputs, y, dy, before);
  const auto compare = [&](const std::vector<Numbers>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
      double largest = 1;
      for (const double value : expected[i].doubles()) largest = std::max(largest, std::abs(value));
      CAPTURE(i);
      CAPTURE(shape_text(expected[i].tensor));
      check_close(found[i].doubles(), expected[i].doubles(), 0, tolerance * largest);
    }
  };
  compare(gradients_by(plain, which, inputs, y, dy, before));
  for (const InstructionSet set : instruction_sets()) {
    CAPTURE(name_of(set));
    FastBackward fast{Threads(1), set};
    const std::vector<Numbers> found = gradients_by(fast, which, inputs, y, dy, before);
    compare(found);
    for (const int n_threads : {2, 3}) {
      CAPTURE(n_threads);
      FastBackward threaded{Threads(n_threads), set};
      const std::vector<Numbers> again = gradients_by(threaded, which, inputs, y, dy, before);
      for (size_t i = 0; i < found.size(); ++i) CHECK(again[i].same_bits(found[i]));
    }
  }
}

}  // namespace

TEST_CASE("fast way back: every operation at sizes 1 to 70") {
  Random random(3);
  for (int size = 1; size <= 70; ++size) {
    CAPTURE(size);
    for (const BackwardCase& which : cases_of_size(size, random)) check_fast(which, random);
  }
}

TEST_CASE("fast way back: shapes of real layers") {
  Random random(4);
  check_fast(matmul_case(300, 200, 500), random);
  check_fast(matmul_case(513, 384, 97), random);
  check_fast(embed_case(300, 193, few_ids(700, 300, random)), random);
  check_fast(add_case(700, 300, true), random);
  check_fast(rms_norm_case(1500, 64, 1e-6), random);
  check_fast(layer_norm_case(700, 130, 1e-5), random);
  check_fast(activate_gated_case(Activation::silu, 40, 900), random);
  check_fast(rope_case(150, 6, 32, 16, RopeLayout::half_split), random);
  check_fast(attention_case(attention_shape(6, 2, 32), {300, 1, 128, 129, 7}), random);
  check_fast(attention_case(attention_shape(7, 1, 17), {200}), random);
  check_fast(attention_case(attention_shape(4, 4, 64), {256, 256}), random);
  for (const int window : {1, 20, 128, 150}) {
    check_fast(attention_case(attention_shape(6, 2, 32, window), {300, 1, 129, 7}), random);
  }
  check_fast(cross_entropy_case(5000, few_ids(50, 5000, random)), random);
}

TEST_CASE("NaN comes through the way back and stays within its sequence") {
  const BackwardCase which = attention_case(attention_shape(2, 1, 8), {5, 140});
  Random random(5);
  const std::vector<Numbers> inputs = random_numbers(random, which.inputs), zeros = [&] {
    std::vector<Numbers> all = random_numbers(random, which.inputs);
    for (Numbers& numbers : all) std::fill_n(values<double>(numbers.tensor), n_elements(numbers.tensor), 0.0);
    return all;
  }();
  Numbers y(DType::F64, which.output);
  ReferenceKernels<double> forward{Threads(1)};
  which.forward(forward, tensors_of(inputs), y.tensor);
  Numbers dy = Numbers::random(random, DType::F64, which.output);
  values<double>(dy.tensor)[140 * 16] = kNaN;  // the last but four of the rows, in the second sequence, first head
  FastBackward fast{Threads(2)};
  const std::vector<Numbers> gradients = gradients_by(fast, which, inputs, y, dy, zeros);
  CHECK(std::isnan(gradients[0].doubles()[140 * 16]));  // dq of that row
  CHECK(std::isnan(gradients[1].doubles()[5 * 8]));     // dk and dv of a key that it sees
  CHECK(std::isnan(gradients[2].doubles()[5 * 8]));
  for (size_t i = 0; i < 5 * 8; ++i) CHECK(std::isfinite(gradients[2].doubles()[i]));

  Numbers logits(DType::F32, {2, 3}), dlogits(DType::F32, {2, 3});
  logits.fill(1);
  logits.floats()[1] = kNaN;
  dlogits.fill(0);
  const int32_t targets[] = {0, 2};
  fast.cross_entropy(logits.tensor, targets, std::vector<double>{0, 0.5}, dlogits.tensor);
  CHECK(dlogits.floats()[0] == 0);  // weight 0: no part in the loss
  fast.cross_entropy(logits.tensor, targets, std::vector<double>{0.5, 0}, dlogits.tensor);
  CHECK(std::isnan(dlogits.floats()[0]));
}

TEST_CASE("the way back refuses what does not fit") {
  Numbers x(DType::F32, {2, 3}), w(DType::F32, {4, 3}), dy(DType::F32, {2, 4}), wrong(DType::F32, {2, 4});
  Numbers wide(DType::F64, {2, 3}), half(DType::F16, {4, 3});
  FastBackward fast{Threads(1)};
  ReferenceBackward<double> reference{Threads(1)};
  CHECK_THROWS_AS(fast.matmul_input(dy.tensor, w.tensor, wrong.tensor), Error);
  CHECK_THROWS_AS(fast.matmul_input(dy.tensor, half.tensor, x.tensor), Error);
  CHECK_THROWS_AS(fast.matmul_weight(dy.tensor, x.tensor, half.tensor), Error);
  CHECK_THROWS_AS(fast.activate(Activation::silu, x.tensor, x.tensor, wide.tensor), Error);
  CHECK_THROWS_AS(reference.activate(Activation::silu, x.tensor, x.tensor, x.tensor), Error);
  const int32_t ids[] = {0, 4};
  CHECK_THROWS_AS(fast.embed(ids, x.tensor, w.tensor), Error);
}
