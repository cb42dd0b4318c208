#include "learn/gradient_memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <string>

namespace orrery {
namespace {

constexpr size_t kAlignment = 64;  // a cache line

size_t size_of(const Tensor& tensor) {
  return std::max<size_t>(1, (n_bytes(tensor) + kAlignment - 1) / kAlignment) * kAlignment;
}

}  // namespace

void GradientMemory::Free::operator()(std::byte* p) const { std::free(p); }

Tensor GradientMemory::take(const Tensor& like) {
  const size_t size = size_of(like);
  std::vector<std::byte*>& idle = idle_[size];
  if (idle.empty()) {
    auto* block = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    if (block == nullptr) throw std::bad_alloc();
    blocks_.emplace_back(block);
    bytes_ += size;
    idle.push_back(block);
  }
  std::byte* memory = idle.back();
  idle.pop_back();
  const std::span shape(like.shape, static_cast<size_t>(like.n_dims));
  return make_tensor(std::string(like.name) + ".grad", like.dtype, shape, memory);
}

void GradientMemory::give_back(const Tensor& gradient) { idle_[size_of(gradient)].push_back(gradient.data); }

}  // namespace orrery
