// A tensor is plain data and owns nothing: a view of numbers that live in an Arena (activations), a Checkpoint
// (weights) or a KvCache. It is eager, so a debugger shows name, type, shape and values without help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace orrery {

constexpr int kMaxDims = 4;

struct Tensor {
  char name[48] = {};             // "blk.3.attn.q", set where it is made
  DType dtype = DType::F32;       //
  int n_dims = 0;                 //
  int64_t shape[kMaxDims] = {};   // outermost first: [n, d_model]
  int64_t stride[kMaxDims] = {};  // in elements; the last one is 1
  std::byte* data = nullptr;      //
};

// A contiguous view of `data`. A name longer than 47 bytes is cut.
Tensor make_tensor(std::string_view name, DType dtype, std::span<const int64_t> shape, std::byte* data);
inline Tensor make_tensor(std::string_view name, DType dtype, std::initializer_list<int64_t> shape, std::byte* data) {
  return make_tensor(name, dtype, std::span(shape.begin(), shape.size()), data);
}

void set_name(Tensor& tensor, std::string_view name);

int64_t n_elements(const Tensor& tensor);
size_t n_bytes(const Tensor& tensor);  // of a contiguous tensor
bool is_contiguous(const Tensor& tensor);
bool same_shape(const Tensor& a, const Tensor& b);
std::string shape_text(std::span<const int64_t> shape);  // "[8, 576]"
std::string shape_text(const Tensor& tensor);

// Rows [first, first + count) of the outermost dimension: a view.
Tensor slice_rows(const Tensor& tensor, int64_t first, int64_t count);
// The same elements in another shape; `tensor` must be contiguous.
Tensor reshape(const Tensor& tensor, std::initializer_list<int64_t> shape);

// The elements as C++ values: values<float>(t)[i]. The caller knows the type.
template <class T>
T* values(const Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.data);
}
// Element `i` of the data of an F32 or F64 tensor (weights that learn, activations, logits), where speed is no matter.
inline double element(const Tensor& tensor, int64_t i) {
  return tensor.dtype == DType::F64 ? values<double>(tensor)[i] : double{values<float>(tensor)[i]};
}
inline void set_element(const Tensor& tensor, int64_t i, double value) {
  if (tensor.dtype == DType::F64) {
    values<double>(tensor)[i] = value;
  } else {
    values<float>(tensor)[i] = static_cast<float>(value);
  }
}
// Start of row `i` of a matrix, whatever its type.
inline std::byte* row_data(const Tensor& tensor, int64_t i) {
  return tensor.data + bytes_of(tensor.dtype, i * tensor.stride[0]);
}

}  // namespace orrery
