#include "kernels/fast/scratch.h"

#include <cassert>

namespace orrery {
namespace {

constexpr size_t kLine = 64 / sizeof(float);

size_t whole_lines(int64_t n_floats) { return (static_cast<size_t>(n_floats) + kLine - 1) / kLine * kLine; }

}  // namespace

ScratchPool::Scratch::Scratch(ScratchPool& pool, Memory memory, std::initializer_list<int64_t> sizes)
    : pool_(pool), memory_(std::move(memory)) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.floats.get()) / sizeof(float);
  float* next = memory_.floats.get() + (kLine - address % kLine) % kLine;
  size_t part = 0;
  for (const int64_t size : sizes) {
    parts_[part++] = next;
    next += whole_lines(size);
  }
}

ScratchPool::Scratch ScratchPool::borrow(std::initializer_list<int64_t> sizes) {
  assert(sizes.size() <= kMaxParts);
  size_t total = kLine;  // new[] may begin in the middle of a line
  for (const int64_t size : sizes) total += whole_lines(size);

  Memory memory;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      memory = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (memory.size < total) memory = {std::unique_ptr<float[]>(new float[total]), total};
  return Scratch(*this, std::move(memory), sizes);
}

void ScratchPool::give_back(Memory memory) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(memory));
}

}  // namespace orrery
