#include "tensor/arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/error.h"

namespace orrery {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and wider than any SIMD register in use
constexpr size_t kSmallestBlock = 256 * 1024;
constexpr int64_t kMostElements = int64_t{1} << 48;  // in bytes it is still far from the end of 64 bits

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Arena::Free::operator()(std::byte* p) const { std::free(p); }

Tensor Arena::make(std::string_view name, DType dtype, std::initializer_list<int64_t> shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(n, extent, &n) || n > kMostElements) {
      throw Error({.what = "no memory can be had for that shape", .where = std::string(name)});
    }
  }
  return make_tensor(name, dtype, shape, take(bytes_of(dtype, n)));
}

Arena::Block Arena::new_block(size_t size, size_t base) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (memory == nullptr) throw std::bad_alloc();
  return {std::unique_ptr<std::byte, Free>(memory), size, base};
}

std::byte* Arena::take(size_t bytes) {
  bytes = rounded(std::max<size_t>(bytes, 1));
  while (block_ < blocks_.size() && offset_ + bytes > blocks_[block_].size) {
    ++block_;
    offset_ = 0;
  }
  if (block_ == blocks_.size()) {
    const size_t base = capacity();
    const size_t size = std::max({bytes, kSmallestBlock, base});  // doubles, so blocks stay few
    blocks_.push_back(new_block(rounded(size), base));
  }
  std::byte* place = blocks_[block_].bytes.get() + offset_;
  offset_ += bytes;
  peak_ = std::max(peak_, used());
  return place;
}

size_t Arena::used() const { return block_ < blocks_.size() ? blocks_[block_].base + offset_ : 0; }

size_t Arena::capacity() const { return blocks_.empty() ? 0 : blocks_.back().base + blocks_.back().size; }

// Several blocks become one: the next pass may be of other sizes, and would leave gaps at the ends of small ones.
void Arena::reset() {
  rewind(0, 0);
  if (blocks_.size() < 2) return;
  const size_t size = capacity();
  blocks_.clear();
  blocks_.push_back(new_block(size, 0));
}

void Arena::rewind(size_t block, size_t offset) {
  block_ = block;
  offset_ = offset;
}

}  // namespace orrery
