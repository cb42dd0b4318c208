// The reference kernels against closed forms worked out here, in float and double.
#include "kernels/reference/reference_kernels.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

using namespace orrery;

namespace {

// A tensor that owns its numbers.
template <class T>
struct Owned {
  std::vector<T> values;
  Tensor tensor;
  Owned(std::initializer_list<int64_t> shape, std::vector<T> numbers) : values(std::move(numbers)) {
    tensor =
        make_tensor("t", sizeof(T) == 4 ? DType::F32 : DType::F64, shape, reinterpret_cast<std::byte*>(values.data()));
    REQUIRE(n_elements(tensor) == static_cast<int64_t>(values.size()));
  }
  explicit Owned(std::initializer_list<int64_t> shape)
      : Owned(shape, std::vector<T>(static_cast<size_t>(
                         std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())))) {}
};

template <class T>
void check_near(const std::vector<T>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(static_cast<double>(found[i]) == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("matmul, add and embed", T, float, double) {
  ReferenceKernels<T> kernels{Threads(2)};
  Owned<T> x({2, 3}, {1, 2, 3, -1, 0, 2}), w({2, 3}, {1, 1, 1, 2, 0, -1}), y({2, 2});
  kernels.matmul(x.tensor, w.tensor, y.tensor);
  check_near(y.values, {6, -1, 1, -4});
  Owned<T> bias({2}, {10, 20}), sum({2, 2});
  kernels.add(y.tensor, bias.tensor, sum.tensor);
  check_near(sum.values, {16, 19, 11, 16});
  kernels.add(y.tensor, y.tensor, sum.tensor);
  check_near(sum.values, {12, -2, 2, -8});
  const int32_t ids[] = {1, 1, 0};
  Owned<T> rows({3, 3});
  kernels.embed(w.tensor, ids, rows.tensor);
  check_near(rows.values, {2, 0, -1, 2, 0, -1, 1, 1, 1});
}

TEST_CASE_TEMPLATE("norms", T, float, double) {
  ReferenceKernels<T> kernels{Threads(1)};
  Owned<T> x({1, 4}, {1, -1, 3, 5}), gain({4}, {1, 2, 1, 0.5}), bias({4}, {0, 0, 1, 1}), y({1, 4});
  kernels.rms_norm(x.tensor, gain.tensor, 0.25, y.tensor);
  const double r = 1 / std::sqrt(36.0 / 4 + 0.25);
  check_near(y.values, {r, -2 * r, 3 * r, 2.5 * r});
  kernels.layer_norm(x.tensor, gain.tensor, bias.tensor, 0.25, y.tensor);
  const double s = 1 / std::sqrt((1 + 9 + 1 + 9) / 4.0 + 0.25);
  check_near(y.values, {-s, -6 * s, s + 1, 1.5 * s + 1});
}

TEST_CASE_TEMPLATE("RoPE turns pairs of either layout and leaves the rest", T, float, double) {
  ReferenceKernels<T> kernels{Threads(1)};
  const int positions[] = {3};
  const double frequencies[] = {1.0, 0.5};
  Owned<T> cosine({1, 2}), sine({1, 2});
  kernels.rope_angles(positions, frequencies, cosine.tensor, sine.tensor);
  check_near(cosine.values, {std::cos(3.0), std::cos(1.5)});
  check_near(sine.values, {std::sin(3.0), std::sin(1.5)});
  Owned<T> x({1, 5}, {1, 2, 3, 4, 9}), y({1, 5});
  kernels.rope(x.tensor, cosine.tensor, sine.tensor, RopeLayout::interleaved, 5, y.tensor);
  const double c3 = std::cos(3.0), s3 = std::sin(3.0), c1 = std::cos(1.5), s1 = std::sin(1.5);
  check_near(y.values, {c3 - 2 * s3, s3 + 2 * c3, 3 * c1 - 4 * s1, 3 * s1 + 4 * c1, 9});
  kernels.rope(x.tensor, cosine.tensor, sine.tensor, RopeLayout::half_split, 5, y.tensor);
  check_near(y.values, {c3 - 3 * s3, 2 * c1 - 4 * s1, s3 + 3 * c3, 2 * s1 + 4 * c1, 9});
}

TEST_CASE_TEMPLATE("activations", T, float, double) {
  ReferenceKernels<T> kernels{Threads(1)};
  Owned<T> x({3}, {-2, 0, 1.5}), up({3}, {2, 2, -1}), y({3});
  kernels.activate(Activation::silu, x.tensor, y.tensor);
  check_near(y.values, {-2 / (1 + std::exp(2.0)), 0, 1.5 / (1 + std::exp(-1.5))});
  kernels.activate(Activation::gelu_tanh, x.tensor, y.tensor);
  check_near(y.values, {-0.04540230591, 0, 1.3995715769});  // PyTorch's gelu(approximate="tanh")
  kernels.activate_gated(Activation::silu, x.tensor, up.tensor, y.tensor);
  check_near(y.values, {-4 / (1 + std::exp(2.0)), 0, -1.5 / (1 + std::exp(-1.5))});
}

TEST_CASE_TEMPLATE("softmax as in the stored values, large scores included", T, float, double) {
  ReferenceKernels<T> kernels{Threads(1)};
  std::ifstream file(std::string(ORRERY_TEST_DATA) + "/numbers/softmax.json");
  const auto entries = nlohmann::json::parse(file)["softmax"];
  CHECK(entries.size() >= 5);
  for (const auto& entry : entries) {
    const auto in = entry["in"].get<std::vector<T>>();
    const auto n = static_cast<int64_t>(in.size());
    Owned<T> x({n}, in), y({n});
    kernels.softmax(x.tensor, y.tensor);
    for (size_t i = 0; i < in.size(); ++i) {
      CHECK(y.values[i] == doctest::Approx(entry["out"][i].template get<double>()).epsilon(1e-5));
    }
  }
}

TEST_CASE_TEMPLATE("attention of two heads over one shared key-value head", T, float, double) {
  ReferenceKernels<T> kernels{Threads(2)};
  Owned<T> q({2, 4}, {1, 0, 0, 1, 1, 1, 2, 0}), keys({2, 2}, {1, 0, 0, 2}), vals({2, 2}, {1, 2, 3, 4});
  const int positions[] = {0, 1};
  const KeyValueSpan spans[] = {{keys.tensor, vals.tensor}};
  const AttentionGroup groups[] = {{0, positions, spans}};
  Owned<T> mix({2, 4});
  kernels.attention({2, 1, 2, 0.5}, groups, q.tensor, mix.tensor);
  // Row 0 sees key 0 alone. Row 1: head 0 scores (1, 2) / 2, head 1 scores (2, 0) / 2.
  const double a = 1 / (1 + std::exp(0.5)), b = 1 / (1 + std::exp(-1.0));
  check_near(mix.values, {1, 2, 1, 2, a + 3 * (1 - a), 2 * a + 4 * (1 - a), b + 3 * (1 - b), 2 * b + 4 * (1 - b)});
}

TEST_CASE_TEMPLATE("attention with a window is attention over the keys in it", T, float, double) {
  constexpr int kKeys = 7, kDim = 2;
  ReferenceKernels<T> kernels{Threads(1)};
  std::vector<T> numbers;
  for (int i = 0; i < kKeys * kDim; ++i) numbers.push_back(static_cast<T>((i * 5) % 11) / 4 - 1);
  Owned<T> q({kKeys, kDim}, {numbers.rbegin(), numbers.rend()}), keys({kKeys, kDim}, numbers), vals({kKeys, kDim});
  for (int i = 0; i < kKeys * kDim; ++i) vals.values[size_t(i)] = static_cast<T>(i * i % 13);
  const KeyValueSpan spans[] = {{keys.tensor, vals.tensor}};
  for (int window = 1; window <= kKeys + 1; ++window) {
    CAPTURE(window);
    const int positions[] = {0, 1, 2, 3, 4, 5, 6};
    const AttentionGroup groups[] = {{0, positions, spans}};
    Owned<T> mix({kKeys, kDim});
    kernels.attention({1, 1, kDim, 0.5, window}, groups, q.tensor, mix.tensor);
    for (int row = 0; row < kKeys; ++row) {
      const int first = std::max(0, row - window + 1), last[] = {row - first};  // as if there were no keys before
      const KeyValueSpan seen[] = {
          {slice_rows(keys.tensor, first, row - first + 1), slice_rows(vals.tensor, first, row - first + 1)}};
      const AttentionGroup one[] = {{0, last, seen}};
      Owned<T> expected({1, kDim});
      kernels.attention({1, 1, kDim, 0.5}, one, slice_rows(q.tensor, row, 1), expected.tensor);
      CHECK(mix.values[size_t(row * kDim)] == expected.values[0]);
      CHECK(mix.values[size_t(row * kDim + 1)] == expected.values[1]);
    }
  }
}

TEST_CASE_TEMPLATE("scale", T, float, double) {
  Owned<T> x({2, 2}, {1, -2, 3, 0}), y({2, 2});
  ReferenceKernels<T>{Threads(1)}.scale(x.tensor, 1.5, y.tensor);
  check_near(y.values, {1.5, -3, 4.5, 0});
}

TEST_CASE_TEMPLATE("what samplers and losses ask for", T, float, double) {
  ReferenceKernels<T> kernels{Threads(1)};
  Owned<T> logits({6}, {2, 1, 0, -1, -2, 2});
  const auto top = kernels.largest(logits.tensor, 3);
  REQUIRE(top.size() == 3);
  CHECK(top[0].id == 0);  // equal to 5, but the lower id
  CHECK(top[1].id == 5);
  CHECK(top[2].id == 1);
  CHECK(kernels.largest(logits.tensor, 100).size() == 6);
  CHECK(kernels.first_non_finite(logits.tensor) == -1);
  logits.values[4] = std::numeric_limits<T>::quiet_NaN();
  CHECK(kernels.first_non_finite(logits.tensor) == 4);
  logits.values[2] = -std::numeric_limits<T>::infinity();
  CHECK(kernels.first_non_finite(logits.tensor) == 2);

  Owned<T> two({2, 2}, {0, 0, 1000, 0});
  const int32_t targets[] = {1, 1};
  double losses[2];
  kernels.cross_entropy(two.tensor, targets, losses);
  CHECK(losses[0] == doctest::Approx(std::log(2.0)));
  CHECK(losses[1] == doctest::Approx(1000.0));
}

TEST_CASE_TEMPLATE("rows may lie apart", T, float, double) {
  // The left halves of the rows of a [3, 4] matrix, as a matrix of its own; what lies between stays untouched.
  const auto half = [](Owned<T>& all) {
    Tensor view = all.tensor;
    view.shape[1] = 2;
    return view;
  };
  ReferenceKernels<T> kernels{Threads(1)};
  Owned<T> x({3, 4}, {1, 2, 9, 9, 3, 4, 9, 9, 5, 6, 9, 9}), y({3, 4}, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
  Owned<T> packed_x({3, 2}, {1, 2, 3, 4, 5, 6}), packed_y({3, 2}), gain({2}, {1, 2});
  Tensor in = half(x), out = half(y);
  const auto check_same = [&] {
    for (int64_t n = 0; n < 3; ++n) {
      for (int64_t i = 0; i < 2; ++i) CHECK(y.values[size_t(4 * n + i)] == packed_y.values[size_t(2 * n + i)]);
      CHECK(y.values[size_t(4 * n + 2)] == 7);
    }
  };
  kernels.add(in, in, out), kernels.add(packed_x.tensor, packed_x.tensor, packed_y.tensor), check_same();
  kernels.rms_norm(in, gain.tensor, 0.1, out), kernels.rms_norm(packed_x.tensor, gain.tensor, 0.1, packed_y.tensor);
  check_same();
  kernels.activate(Activation::silu, in, out), kernels.activate(Activation::silu, packed_x.tensor, packed_y.tensor);
  check_same();
  kernels.activate_gated(Activation::silu, in, in, out);
  kernels.activate_gated(Activation::silu, packed_x.tensor, packed_x.tensor, packed_y.tensor);
  check_same();
  kernels.softmax(in, out), kernels.softmax(packed_x.tensor, packed_y.tensor), check_same();
  kernels.convert(in, out), kernels.convert(packed_x.tensor, packed_y.tensor), check_same();
}

TEST_CASE("NaN comes through, and shapes that do not fit are an error") {
  ReferenceKernels<float> kernels{Threads(1)};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Owned<float> x({1, 2}, {1, nan}), w({2, 2}, {1, 0, 1, 1}), y({1, 2}), wrong({1, 3});
  kernels.matmul(x.tensor, w.tensor, y.tensor);
  CHECK(std::isnan(y.values[0]));
  kernels.softmax(x.tensor, y.tensor);
  CHECK(std::isnan(y.values[0]));
  CHECK_THROWS_WITH_AS(kernels.matmul(x.tensor, w.tensor, wrong.tensor), doctest::Contains("matmul"), Error);
}
