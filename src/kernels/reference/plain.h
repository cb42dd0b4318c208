// The few scalar helpers of the reference kernels.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/kernels.h"
#include "tensor/convert.h"

namespace orrery::plain {

template <class T>
constexpr DType type_of() {
  return sizeof(T) == 4 ? DType::F32 : DType::F64;
}

template <class T>
std::byte* bytes(std::vector<T>& v) {
  return reinterpret_cast<std::byte*>(v.data());
}

template <class T>
T* row(const Tensor& matrix, int64_t i) {
  return values<T>(matrix) + i * matrix.stride[0];
}

// Where the `i`-th run of `d` elements begins: rows of a matrix may lie apart, all else is contiguous.
inline std::byte* run_data(const Tensor& tensor, int64_t i, int64_t d) {
  return tensor.n_dims == 2 ? row_data(tensor, i) : tensor.data + bytes_of(tensor.dtype, i * d);
}
template <class T>
T* run(const Tensor& tensor, int64_t i, int64_t d) {
  return reinterpret_cast<T*>(run_data(tensor, i, d));
}

// Row `i` of a matrix of any type, as T.
template <class T>
void read_row(const Tensor& matrix, int64_t i, std::vector<T>& out) {
  convert_row(matrix.dtype, row_data(matrix, i), type_of<T>(), bytes(out), static_cast<int64_t>(out.size()));
}

// out.size() elements of row `i`, from element `first` on. For types without blocks.
template <class T>
void read_part(const Tensor& matrix, int64_t i, int64_t first, std::vector<T>& out) {
  const std::byte* start = row_data(matrix, i) + bytes_of(matrix.dtype, first);
  convert_row(matrix.dtype, start, type_of<T>(), bytes(out), static_cast<int64_t>(out.size()));
}

template <class T>
std::vector<T> vector_of(const Tensor& tensor) {
  std::vector<T> out(static_cast<size_t>(n_elements(tensor)));
  convert_row(tensor.dtype, tensor.data, type_of<T>(), bytes(out), n_elements(tensor));
  return out;
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
T activated(Activation activation, T x) {
  if (activation == Activation::silu) return x / (1 + std::exp(-x));
  const T inner = static_cast<T>(std::sqrt(2 / std::numbers::pi)) * (x + static_cast<T>(0.044715) * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

}  // namespace orrery::plain
