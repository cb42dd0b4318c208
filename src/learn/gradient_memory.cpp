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

int64_t width_of(const Tensor& tensor) { return tensor.shape[tensor.n_dims - 1]; }

}  // namespace

void GradientMemory::Free::operator()(std::byte* p) const { std::free(p); }

Tensor GradientMemory::take(const Tensor& like) {
  const size_t size = size_of(like);
  std::vector<Place>& places = places_[width_of(like)];
  auto place = std::ranges::find_if(places, [](const Place& one) { return !one.is_taken; });
  if (place == places.end()) place = places.emplace(places.end());
  if (place->size < size) {
    bytes_ -= place->size;
    place->size = 0;
    place->memory.reset();  // before the new memory is taken
    place->memory.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)));
    if (place->memory == nullptr) throw std::bad_alloc();
    place->size = size;
    bytes_ += size;
  }
  place->is_taken = true;
  const std::span shape(like.shape, static_cast<size_t>(like.n_dims));
  return make_tensor(std::string(like.name) + ".grad", like.dtype, shape, place->memory.get());
}

void GradientMemory::give_back(const Tensor& gradient) {
  std::vector<Place>& places = places_[width_of(gradient)];
  std::ranges::find(places, gradient.data, [](const Place& one) { return one.memory.get(); })->is_taken = false;
}

size_t GradientMemory::used() const {
  size_t sum = 0;
  for (const auto& [width, places] : places_) {
    for (const Place& place : places) sum += place.is_taken ? place.size : 0;
  }
  return sum;
}

}  // namespace orrery
