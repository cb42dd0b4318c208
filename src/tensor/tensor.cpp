#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace orrery {

Tensor make_tensor(std::string_view name, DType dtype, std::span<const int64_t> shape, std::byte* data) {
  if (shape.size() > kMaxDims) {
    throw Error({.what = "too many dimensions",
                 .where = std::string(name),
                 .expected = "at most " + std::to_string(kMaxDims),
                 .found = std::to_string(shape.size())});
  }
  Tensor tensor;
  set_name(tensor, name);
  tensor.dtype = dtype;
  tensor.n_dims = static_cast<int>(shape.size());
  tensor.data = data;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    tensor.shape[i] = shape[i];
    tensor.stride[i] = stride;
    stride *= shape[i];
  }
  return tensor;
}

void set_name(Tensor& tensor, std::string_view name) {
  const size_t length = std::min(name.size(), sizeof tensor.name - 1);
  std::memcpy(tensor.name, name.data(), length);
  tensor.name[length] = '\0';
}

int64_t n_elements(const Tensor& tensor) {
  int64_t n = 1;
  for (int i = 0; i < tensor.n_dims; ++i) n *= tensor.shape[i];
  return n;
}

size_t n_bytes(const Tensor& tensor) { return bytes_of(tensor.dtype, n_elements(tensor)); }

bool is_contiguous(const Tensor& tensor) {
  int64_t stride = 1;
  for (int i = tensor.n_dims; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.stride[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.n_dims == b.n_dims && std::equal(a.shape, a.shape + a.n_dims, b.shape);
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string shape_text(const Tensor& tensor) {
  return shape_text(std::span(tensor.shape, static_cast<size_t>(tensor.n_dims)));
}

Tensor slice_rows(const Tensor& tensor, int64_t first, int64_t count) {
  if (tensor.n_dims < 1 || first < 0 || count < 0 || first > tensor.shape[0] || count > tensor.shape[0] - first) {
    throw Error({.what = "no such rows",
                 .where = tensor.name,
                 .expected = "rows within " + shape_text(tensor),
                 .found = std::to_string(count) + " from row " + std::to_string(first)});
  }
  Tensor view = tensor;
  view.shape[0] = count;
  view.data = row_data(tensor, first);
  return view;
}

Tensor reshape(const Tensor& tensor, std::initializer_list<int64_t> shape) {
  const Tensor view = make_tensor(tensor.name, tensor.dtype, shape, tensor.data);
  const bool is_negative = std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
  if (is_negative || !is_contiguous(tensor) || n_elements(view) != n_elements(tensor)) {
    throw Error({.what = "cannot be seen in that shape",
                 .where = tensor.name,
                 .expected = shape_text(view),
                 .found = shape_text(tensor)});
  }
  return view;
}

}  // namespace orrery
