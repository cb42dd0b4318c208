#include "files/weights_in_memory.h"

#include <cstring>
#include <memory>

#include "tensor/convert.h"

namespace orrery {
namespace {

size_t element_alignment(DType dtype) {
  switch (dtype) {
    case DType::F64: return alignof(double);
    case DType::F32: return alignof(float);
    case DType::F16:
    case DType::BF16: return alignof(uint16_t);
    case DType::Q8_0: return alignof(Q8Block);
  }
  return alignof(double);
}

}  // namespace

void add_mapped_weight(const FileTensor& tensor, DType dtype, const std::byte* data, Checkpoint& checkpoint) {
  // A Tensor can be written to, weights are not: nothing in Orrery writes to what it got from a Checkpoint.
  auto* bytes = const_cast<std::byte*>(data);
  const bool is_vector = tensor.shape.size() == 1 && dtype != DType::F32;
  const bool changes = is_vector || dtype == DType::F64;
  const bool is_misaligned = reinterpret_cast<uintptr_t>(data) % element_alignment(dtype) != 0;
  Tensor weight = make_tensor(tensor.name, dtype, tensor.shape, bytes);
  if (changes || is_misaligned) {
    if (changes) weight.dtype = DType::F32;
    const size_t size = n_bytes(weight);
    const std::shared_ptr<std::byte[]> copy(new std::byte[size]);
    if (changes) {
      convert_row(dtype, data, DType::F32, copy.get(), n_elements(weight));
    } else {
      std::memcpy(copy.get(), data, size);
    }
    weight.data = copy.get();
    checkpoint.owners.push_back(copy);
    checkpoint.copies.push_back({tensor.name,
                                 dtype == DType::F64 ? "narrowed from F64 to F32"
                                 : changes           ? "norms and biases are widened to F32"
                                                     : "misaligned in the file",
                                 size});
  }
  checkpoint.weights.insert_or_assign(tensor.name, weight);
}

}  // namespace orrery
