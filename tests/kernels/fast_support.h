// What the tests of the fast kernels share: tensors that own their numbers, and every instruction set of this machine.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace orrery::test {

class Numbers {
 public:
  Numbers(DType dtype, std::vector<int64_t> shape, const char* name = "t") : shape_(std::move(shape)) {
    int64_t n = 1;
    for (const int64_t size : shape_) n *= size;
    bytes_.resize(bytes_of(dtype, n));
    tensor = make_tensor(name, dtype, shape_, bytes_.data());
  }
  Numbers(Numbers&&) = default;  // the bytes stay where they are
  Numbers& operator=(Numbers&&) = default;

  // Of mean 0 and variance 1, in every type.
  static Numbers random(Random& random, DType dtype, std::vector<int64_t> shape, const char* name = "t") {
    Numbers floats(DType::F32, shape, name);
    for (int64_t i = 0; i < n_elements(floats.tensor); ++i) floats.floats()[i] = static_cast<float>(random.normal());
    return floats.as(dtype);
  }

  Numbers as(DType dtype) const {
    Numbers other(dtype, shape_, tensor.name);
    convert_row(tensor.dtype, tensor.data, dtype, other.tensor.data, n_elements(tensor));
    return other;
  }
  std::vector<double> doubles() const {
    std::vector<double> values(static_cast<size_t>(n_elements(tensor)));
    convert_row(tensor.dtype, tensor.data, DType::F64, reinterpret_cast<std::byte*>(values.data()), n_elements(tensor));
    return values;
  }
  float* floats() { return values<float>(tensor); }
  void fill(float value) { std::fill_n(floats(), n_elements(tensor), value); }
  bool same_bits(const Numbers& other) const { return bytes_ == other.bytes_; }

  Tensor tensor;

 private:
  std::vector<int64_t> shape_;
  std::vector<std::byte> bytes_;
};

inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::baseline};
  if (is_supported(InstructionSet::x86_64_v3)) sets.push_back(InstructionSet::x86_64_v3);
  return sets;
}

// |found - expected| <= relative * |expected| + absolute; NaN and infinities must agree.
inline void check_close(const std::vector<double>& found, const std::vector<double>& expected, double relative,
                        double absolute) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const bool same_kind =
        std::isnan(found[i]) == std::isnan(expected[i]) && std::isinf(found[i]) == std::isinf(expected[i]);
    const bool close =
        !std::isfinite(expected[i]) || std::abs(found[i] - expected[i]) <= relative * std::abs(expected[i]) + absolute;
    if (same_kind && close) continue;
    CAPTURE(i);
    CHECK_MESSAGE(false, "found ", found[i], ", expected ", expected[i]);
    return;
  }
}

// The bits of `y` after call(kernels, y) do not depend on the number of threads.
template <class Call>
void check_threads(InstructionSet set, const std::vector<int64_t>& shape, const Call& call) {
  Numbers first(DType::F32, shape);
  for (int n_threads = 1; n_threads <= 3; ++n_threads) {
    FastKernels kernels{Threads(n_threads), set};
    Numbers y(DType::F32, shape);
    call(kernels, y.tensor);
    if (n_threads == 1) first = y.as(DType::F32);
    CAPTURE(n_threads);
    CHECK(y.same_bits(first));
  }
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace orrery::test
