#include "tensor/tensor.h"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

namespace {

struct Numbers {
  std::vector<float> x;
  explicit Numbers(size_t n) : x(n) {
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(x.data()); }
};

}  // namespace

TEST_CASE("Tensor: shape, strides and sizes") {
  Numbers numbers(24);
  const Tensor tensor = make_tensor("t", DType::F32, {2, 3, 4}, numbers.data());
  CHECK(tensor.n_dims == 3);
  CHECK(tensor.stride[0] == 12);
  CHECK(tensor.stride[1] == 4);
  CHECK(tensor.stride[2] == 1);
  CHECK(n_elements(tensor) == 24);
  CHECK(n_bytes(tensor) == 96);
  CHECK(is_contiguous(tensor));
  CHECK(shape_text(tensor) == "[2, 3, 4]");
  CHECK(values<float>(tensor)[23] == 23);
  CHECK(n_elements(make_tensor("scalar", DType::F32, {}, numbers.data())) == 1);
  CHECK_THROWS_AS(make_tensor("t", DType::F32, {1, 1, 1, 1, 1}, numbers.data()), Error);
}

TEST_CASE("Tensor: one element, in either precision") {
  Numbers numbers(8);
  const Tensor single = make_tensor("t", DType::F32, {2, 4}, numbers.data());
  set_element(single, 5, 1.0 / 3);
  CHECK(element(single, 4) == 4);
  CHECK(element(single, 5) == double{1.0F / 3});  // rounded
  CHECK(element(single, 6) == 6);

  std::vector<double> more(8);
  const Tensor twice = make_tensor("t", DType::F64, {2, 4}, reinterpret_cast<std::byte*>(more.data()));
  set_element(twice, 5, 1.0 / 3);
  CHECK(more == std::vector<double>{0, 0, 0, 0, 0, 1.0 / 3, 0, 0});
  CHECK(element(twice, 5) == 1.0 / 3);
}

TEST_CASE("Tensor: a long name is cut") {
  const Tensor tensor = make_tensor(std::string(100, 'n'), DType::F32, {1}, nullptr);
  CHECK(std::string(tensor.name) == std::string(47, 'n'));
  Tensor other = tensor;
  set_name(other, "short");
  CHECK(std::string(other.name) == "short");
}

TEST_CASE("Tensor: same_shape") {
  const Tensor a = make_tensor("a", DType::F32, {2, 3}, nullptr);
  CHECK(same_shape(a, make_tensor("b", DType::F16, {2, 3}, nullptr)));
  CHECK_FALSE(same_shape(a, make_tensor("b", DType::F32, {3, 2}, nullptr)));
  CHECK_FALSE(same_shape(a, make_tensor("b", DType::F32, {2, 3, 1}, nullptr)));
}

TEST_CASE("Tensor: slice_rows is a view of the same numbers") {
  Numbers numbers(12);
  const Tensor tensor = make_tensor("t", DType::F32, {4, 3}, numbers.data());
  const Tensor rows = slice_rows(tensor, 1, 2);
  CHECK(shape_text(rows) == "[2, 3]");
  CHECK(values<float>(rows)[0] == 3);
  CHECK(reinterpret_cast<float*>(row_data(rows, 1))[2] == 8);
  CHECK(n_elements(slice_rows(tensor, 4, 0)) == 0);
  CHECK(values<float>(slice_rows(rows, 1, 1))[0] == 6);

  const int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_AS(slice_rows(tensor, 3, 2), Error);
  CHECK_THROWS_AS(slice_rows(tensor, -1, 2), Error);
  CHECK_THROWS_AS(slice_rows(tensor, 0, -1), Error);
  CHECK_THROWS_AS(slice_rows(tensor, 5, 0), Error);
  CHECK_THROWS_AS(slice_rows(tensor, 1, largest), Error);
  CHECK_THROWS_AS(slice_rows(tensor, largest, largest), Error);
  CHECK_THROWS_AS(slice_rows(make_tensor("scalar", DType::F32, {}, numbers.data()), 0, 1), Error);
}

TEST_CASE("Tensor: rows of blocks") {
  std::vector<std::byte> bytes(4 * 2 * 34);
  const Tensor tensor = make_tensor("w", DType::Q8_0, {4, 64}, bytes.data());
  CHECK(row_data(tensor, 3) == bytes.data() + 3 * 2 * 34);
  CHECK(slice_rows(tensor, 2, 1).data == bytes.data() + 2 * 2 * 34);
}

TEST_CASE("Tensor: reshape") {
  Numbers numbers(24);
  const Tensor tensor = make_tensor("t", DType::F32, {4, 6}, numbers.data());
  const Tensor view = reshape(tensor, {2, 3, 4});
  CHECK(view.data == tensor.data);
  CHECK(std::string(view.name) == "t");
  CHECK(view.stride[0] == 12);
  CHECK_THROWS_AS(reshape(tensor, {5, 5}), Error);
  CHECK_THROWS_AS(reshape(tensor, {-4, -6}), Error);

  Tensor columns = tensor;  // the first three of six columns
  columns.shape[1] = 3;
  CHECK_FALSE(is_contiguous(columns));
  CHECK_THROWS_AS(reshape(columns, {12}), Error);
  CHECK(is_contiguous(slice_rows(columns, 0, 1)));
}
