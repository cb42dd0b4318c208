#include <cstring>
#include <numbers>

#include "kernels/fast_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr double kFewUlps = 4e-7;

// Calls `call(kernels, inputs..., y)` with the fast kernels on F32 and the reference on the same numbers in double.
template <class Call>
void compare(InstructionSet set, const std::vector<int64_t>& shape, double absolute, const Call& call) {
  FastKernels fast{Threads(2), set};
  ReferenceKernels<double> reference{Threads(1)};
  Numbers y(DType::F32, shape), expected(DType::F64, shape);
  call(fast, DType::F32, y.tensor);
  call(reference, DType::F64, expected.tensor);
  CAPTURE(name_of(set));
  CAPTURE(shape_text(y.tensor));
  check_close(y.doubles(), expected.doubles(), kFewUlps, absolute);
}

}  // namespace

TEST_CASE("fast add: a matrix, a bias of any type") {
  Random random(1);
  for (const InstructionSet set : instruction_sets()) {
    for (int64_t d = 1; d <= 70; ++d) {
      const Numbers a = Numbers::random(random, DType::F32, {3, d}), b = Numbers::random(random, DType::F32, {3, d});
      compare(set, {3, d}, 1e-7, [&](Kernels& kernels, DType dtype, Tensor& y) {
        kernels.add(a.as(dtype).tensor, b.as(dtype).tensor, y);
      });
      for (const DType stored : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
        const Numbers bias = Numbers::random(random, stored, {d});
        compare(set, {3, d}, 1e-7,
                [&](Kernels& kernels, DType dtype, Tensor& y) { kernels.add(a.as(dtype).tensor, bias.tensor, y); });
      }
    }
  }
}

TEST_CASE("fast scale") {
  Random random(8);
  for (const InstructionSet set : instruction_sets()) {
    for (int64_t d = 1; d <= 70; ++d) {
      const Numbers x = Numbers::random(random, DType::F32, {3, d});
      compare(set, {3, d}, 1e-7,
              [&](Kernels& kernels, DType dtype, Tensor& y) { kernels.scale(x.as(dtype).tensor, -2.75, y); });
    }
  }
}

TEST_CASE("fast norms: gains and biases of any type") {
  Random random(2);
  for (const InstructionSet set : instruction_sets()) {
    for (int64_t d = 1; d <= 70; ++d) {
      for (const DType stored : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
        const Numbers x = Numbers::random(random, DType::F32, {2, 3, d});
        const Numbers gain = Numbers::random(random, stored, {d}), bias = Numbers::random(random, stored, {d});
        compare(set, {2, 3, d}, 1e-7, [&](Kernels& kernels, DType dtype, Tensor& y) {
          kernels.rms_norm(x.as(dtype).tensor, gain.tensor, 1e-5, y);
        });
        // What is left of x - mean(x) has the rounding errors of x.
        compare(set, {2, 3, d}, 4e-6, [&](Kernels& kernels, DType dtype, Tensor& y) {
          kernels.layer_norm(x.as(dtype).tensor, gain.tensor, bias.tensor, 1e-2, y);
        });
      }
    }
  }
}

TEST_CASE("fast RoPE: both layouts, partly turned heads") {
  Random random(3);
  const std::vector<int> positions = {0, 1, 17, 8191};
  for (const InstructionSet set : instruction_sets()) {
    for (int head_dim = 1; head_dim <= 70; ++head_dim) {
      const auto n_pairs = static_cast<int64_t>(random.below(static_cast<uint64_t>(head_dim) / 2 + 1));
      std::vector<double> frequencies;
      for (int64_t i = 0; i < n_pairs; ++i) frequencies.push_back(std::pow(10000.0, -static_cast<double>(i) / 8));
      const Numbers x = Numbers::random(random, DType::F32, {4, 3 * head_dim});
      for (const RopeLayout layout : {RopeLayout::interleaved, RopeLayout::half_split}) {
        compare(set, {4, 3 * head_dim}, 3e-7, [&](Kernels& kernels, DType dtype, Tensor& y) {
          Numbers cosine(dtype, {4, n_pairs}), sine(dtype, {4, n_pairs});
          kernels.rope_angles(positions, frequencies, cosine.tensor, sine.tensor);
          kernels.rope(x.as(dtype).tensor, cosine.tensor, sine.tensor, layout, head_dim, y);
        });
      }
    }
  }
}

TEST_CASE("fast activations: from -100 to 100, gated or not") {
  Random random(4);
  Numbers x(DType::F32, {1, 20001}), up = Numbers::random(random, DType::F32, {1, 20001});
  for (int64_t i = 0; i < 20001; ++i) x.floats()[i] = static_cast<float>(i - 10000) * 0.01f;
  for (const InstructionSet set : instruction_sets()) {
    for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
      FastKernels kernels{Threads(2), set};
      Numbers y(DType::F32, {1, 20001}), gated(DType::F32, {1, 20001});
      kernels.activate(activation, x.tensor, y.tensor);
      kernels.activate_gated(activation, x.tensor, up.tensor, gated.tensor);
      int n_wrong = 0;
      for (int64_t i = 0; i < 20001; ++i) {
        const double v = x.floats()[i];
        const double u = std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v);
        const double expected = v / (1 + std::exp(activation == Activation::silu ? -v : -2 * u));
        // In the left tail the rounding of the exponent counts: it is as large as the exponent is.
        const double tolerance = 3e-7 * (1 + std::abs(v) / 4 + (activation == Activation::silu ? 0 : std::abs(u)));
        n_wrong += !(std::abs(y.floats()[i] - expected) <= tolerance * std::abs(expected) + 1e-36);
        n_wrong += !(std::abs(gated.floats()[i] - expected * double{up.floats()[i]}) <=
                     2 * tolerance * std::abs(expected * double{up.floats()[i]}) + 1e-36);
      }
      CHECK(n_wrong == 0);
    }
  }
}

TEST_CASE("exp of the fast kernels: 1.2e-7 of the value, exact ends, NaN stays NaN") {
  constexpr int64_t kCount = 200000;
  std::vector<float> x(kCount), y(kCount);
  for (int64_t i = 0; i < kCount; ++i) x[size_t(i)] = -86.0f + 174.0f * static_cast<float>(i) / kCount;
  for (const InstructionSet set : instruction_sets()) {
    const Loops& loops = loops_of(set);
    loops.exponentials(x.data(), 0, kCount, y.data());
    double worst = 0;
    for (size_t i = 0; i < kCount; ++i) worst = std::max(worst, std::abs(y[i] / std::exp(double{x[i]}) - 1));
    CHECK(worst < 1.2e-7);

    const float ends[] = {-kInfinity, -1e30f, -104, -95, 0, 89, 1e30f, kInfinity, kNaN, -kNaN};
    float found[10];
    loops.exponentials(ends, 0, 10, found);
    for (int i : {0, 1, 2}) CHECK(found[i] == 0);
    CHECK(found[3] == doctest::Approx(std::exp(-95.0)).epsilon(0.01));  // a subnormal number
    CHECK(found[4] == 1);
    for (int i : {5, 6, 7}) CHECK(found[i] == kInfinity);
    for (int i : {8, 9}) CHECK(std::isnan(found[i]));
  }
}

TEST_CASE("fast convert: every F16 and BF16, and rounding to them, as tensor/convert does") {
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const DType half : {DType::F16, DType::BF16}) {
      Numbers all(half, {257, 255}), wide(DType::F32, {257, 255});  // 65535 of them
      for (int i = 0; i < 65535; ++i) values<uint16_t>(all.tensor)[i] = static_cast<uint16_t>(i);
      kernels.convert(all.tensor, wide.tensor);
      check_close(wide.doubles(), all.as(DType::F32).doubles(), 0, 0);

      // Every value between halves, at a quarter, the middle, three quarters, and one bit beside the middle.
      Numbers between(DType::F32, {65535, 5});
      for (int i = 0; i < 65535; ++i) {
        uint32_t bits;
        std::memcpy(&bits, wide.floats() + i, 4);
        const uint32_t step = half == DType::F16 ? 1u << 13 : 1u << 16;
        const uint32_t parts[] = {step / 4, step / 2, step / 4 * 3, step / 2 - 1, step / 2 + 1};
        for (int j = 0; j < 5; ++j) {
          const uint32_t moved = bits + parts[j];
          std::memcpy(between.floats() + i * 5 + j, &moved, 4);
        }
      }
      Numbers rounded(half, {65535, 5});
      kernels.convert(between.tensor, rounded.tensor);
      check_close(rounded.doubles(), between.as(half).doubles(), 0, 0);
    }
  }
}

TEST_CASE("fast convert and embed: strided rows, all types") {
  Random random(5);
  const std::vector<int32_t> ids = {4, 0, 4, 6};
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const DType from : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::F64}) {
      const Numbers table = Numbers::random(random, from, {7, 96});
      Tensor part = table.tensor;
      part.shape[1] = 64;
      const std::vector<double> source = table.doubles();
      for (const DType to : {DType::F32, DType::F16, DType::Q8_0}) {
        Numbers y(to, {7, 64});
        kernels.convert(part, y.tensor);
        for (int64_t row = 0; row < 7; ++row) {
          Numbers expected(to, {1, 64}), found(to, {1, 64});
          convert_row(from, row_data(part, row), to, expected.tensor.data, 64);
          std::memcpy(found.tensor.data, row_data(y.tensor, row), n_bytes(found.tensor));
          CHECK(found.same_bits(expected));
        }
      }
      Numbers rows(DType::F32, {4, 64});
      kernels.embed(part, ids, rows.tensor);
      for (int64_t i = 0; i < 4 * 64; ++i) {
        const size_t index = static_cast<size_t>(ids[size_t(i / 64)] * 96 + i % 64);
        CHECK(rows.floats()[i] == static_cast<float>(source[index]));
      }
    }
  }
}

TEST_CASE("fast norms, softmax and activations let NaN through") {
  Random random(6);
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(1), set};
    Numbers x = Numbers::random(random, DType::F32, {2, 37}), gain = Numbers::random(random, DType::F32, {37});
    Numbers y(DType::F32, {2, 37});
    x.floats()[5] = kNaN;
    const auto check = [&](bool whole_row) {
      for (int64_t i = 0; i < 74; ++i) CHECK(std::isnan(y.floats()[i]) == (whole_row ? i < 37 : i == 5));
    };
    kernels.rms_norm(x.tensor, gain.tensor, 1e-5, y.tensor);
    check(true);
    kernels.layer_norm(x.tensor, gain.tensor, gain.tensor, 1e-5, y.tensor);
    check(true);
    kernels.softmax(x.tensor, y.tensor);
    check(true);
    kernels.activate(Activation::silu, x.tensor, y.tensor);
    check(false);
    kernels.activate_gated(Activation::gelu_tanh, x.tensor, x.tensor, y.tensor);
    check(false);
    kernels.add(x.tensor, gain.tensor, y.tensor);
    check(false);
  }
}

TEST_CASE("fast element-wise operations: the same bits for any number of threads") {
  Random random(7);
  const std::vector<int64_t> shape = {301, 210};
  const Numbers x = Numbers::random(random, DType::F32, shape), z = Numbers::random(random, DType::F32, shape);
  const Numbers gain = Numbers::random(random, DType::F16, {210}), w = Numbers::random(random, DType::F16, {350, 210});
  std::vector<int32_t> ids;
  for (int i = 0; i < 301; ++i) ids.push_back(static_cast<int32_t>(random.below(350)));
  for (const InstructionSet set : instruction_sets()) {
    check_threads(set, shape, [&](Kernels& k, Tensor& y) { k.embed(w.tensor, ids, y); });
    check_threads(set, shape, [&](Kernels& k, Tensor& y) { k.add(x.tensor, z.tensor, y); });
    check_threads(set, shape, [&](Kernels& k, Tensor& y) { k.rms_norm(x.tensor, gain.tensor, 1e-5, y); });
    check_threads(set, shape, [&](Kernels& k, Tensor& y) { k.softmax(x.tensor, y); });
    check_threads(set, shape,
                  [&](Kernels& k, Tensor& y) { k.activate_gated(Activation::silu, x.tensor, z.tensor, y); });
  }
}
