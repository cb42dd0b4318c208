#include "kernels/fast_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr DType kWeightTypes[] = {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::F64};

// Against a double loop, within 1e-5 of the sum of all magnitudes.
void check_product(FastKernels& kernels, const Numbers& x, const Numbers& w) {
  const int64_t n = x.tensor.shape[0], n_in = x.tensor.shape[1], n_out = w.tensor.shape[0];
  Numbers y(DType::F32, {n, n_out}, "y");
  y.fill(kNaN);  // what was there before must not matter
  kernels.matmul(x.tensor, w.tensor, y.tensor);
  const std::vector<double> xs = x.doubles(), ws = w.doubles(), ys = y.doubles();
  int n_wrong = 0;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t o = 0; o < n_out; ++o) {
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < n_in; ++i) {
        const double product = xs[size_t(r * n_in + i)] * ws[size_t(o * n_in + i)];
        sum += product;
        magnitude += std::abs(product);
      }
      n_wrong += !(std::abs(ys[size_t(r * n_out + o)] - sum) <= 1e-5 * magnitude);
    }
  }
  CAPTURE(shape_text(x.tensor));
  CAPTURE(shape_text(w.tensor));
  CAPTURE(info(w.tensor.dtype).name);
  CAPTURE(name_of(kernels.instruction_set()));
  CHECK(n_wrong == 0);
}

int64_t fitting(DType dtype, int64_t n_in) {
  const int64_t block = info(dtype).block_elements;
  return (n_in + block - 1) / block * block;
}

}  // namespace

TEST_CASE("fast matmul: sizes 1 to 70, every weight type, every instruction set") {
  Random random(1);
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const DType dtype : kWeightTypes) {
      for (int64_t size = 1; size <= 70; ++size) {
        const auto other = [&] { return 1 + static_cast<int64_t>(random.below(70)); };
        // Each of the three takes all values; few rows and many are different code.
        const int64_t shapes[][3] = {
            {1, size, other()}, {size, other(), other()}, {other(), size, other()}, {1 + size % 8, other(), size}};
        for (const auto& [n, in, out] : shapes) {
          const int64_t n_in = fitting(dtype, in);
          check_product(kernels, Numbers::random(random, DType::F32, {n, n_in}, "x"),
                        Numbers::random(random, dtype, {out, n_in}, "w"));
        }
      }
    }
  }
}

TEST_CASE("fast matmul: several tiles and pieces, the same bits for any number of threads") {
  Random random(2);
  for (const InstructionSet set : instruction_sets()) {
    for (const DType dtype : kWeightTypes) {
      for (const int64_t n : {1, 3, 7, 40, 300}) {
        const Numbers x = Numbers::random(random, DType::F32, {n, 352}, "x");
        const Numbers w = Numbers::random(random, dtype, {701, 352}, "w");
        FastKernels kernels{Threads(3), set};
        if (n < 300 || dtype == DType::F16) check_product(kernels, x, w);
        check_threads(set, {n, 701}, [&](FastKernels& k, Tensor& y) { k.matmul(x.tensor, w.tensor, y); });
      }
    }
  }
}

TEST_CASE("fast matmul: rows may lie apart") {
  Random random(3);
  const Numbers x = Numbers::random(random, DType::F32, {9, 50}, "x"),
                w = Numbers::random(random, DType::F32, {20, 33}, "w");
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const int64_t n : {1, 2, 9}) {
      Tensor part = slice_rows(x.tensor, 0, n);
      part.shape[1] = 33;  // of 50
      Numbers compact(DType::F32, {n, 33}), y(DType::F32, {n, 20}), wide(DType::F32, {n, 31});
      kernels.convert(part, compact.tensor);
      kernels.matmul(compact.tensor, w.tensor, y.tensor);
      wide.fill(-7);
      Tensor target = wide.tensor;
      target.shape[1] = 20;
      kernels.matmul(part, w.tensor, target);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t o = 0; o < 31; ++o) {
          CHECK(wide.floats()[r * 31 + o] == (o < 20 ? y.floats()[r * 20 + o] : -7));
        }
      }
    }
  }
}

TEST_CASE("fast matmul: NaN and infinity come out where they went in, and nowhere else") {
  Random random(4);
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      for (const int64_t n : {1, 3, 20}) {
        for (const float poison : {kNaN, kInfinity}) {
          Numbers x = Numbers::random(random, DType::F32, {n, 67}, "x"), y(DType::F32, {n, 9}, "y");
          Numbers wide = Numbers::random(random, DType::F32, {9, 67}, "w");
          wide.floats()[5 * 67 + 66] = poison;
          const Numbers w = wide.as(dtype);
          x.floats()[66] = 0;  // row 0: 0 * infinity is NaN as well
          kernels.matmul(x.tensor, w.tensor, y.tensor);
          for (int64_t i = 0; i < n * 9; ++i) CHECK(std::isfinite(y.floats()[i]) == (i % 9 != 5));
          CHECK(std::isnan(y.floats()[5]));
        }
      }
    }
  }
}

TEST_CASE("fast matmul: no rows, and shapes that do not fit") {
  FastKernels kernels{Threads(2)};
  Numbers none(DType::F32, {0, 8}), w(DType::F32, {4, 8}), y(DType::F32, {0, 4}), x(DType::F32, {2, 7}, "hidden");
  kernels.matmul(none.tensor, w.tensor, y.tensor);
  Numbers out(DType::F32, {2, 4});
  CHECK_THROWS_WITH_AS(kernels.matmul(x.tensor, w.tensor, out.tensor), doctest::Contains("hidden [2, 7] F32"), Error);
  Numbers wide(DType::F64, {2, 8});
  CHECK_THROWS_AS(kernels.matmul(wide.tensor, w.tensor, out.tensor), Error);
}
