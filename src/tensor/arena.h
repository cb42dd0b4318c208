// Where activations live. Memory is taken in blocks, handed out front to back, and given back all at once by reset(),
// or down to a mark by a Scope. It stays with the arena, so a second forward pass that needs no more takes none.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace orrery {

class Arena {
 public:
  // `keeps_all`: scopes give nothing back. Training needs every intermediate until the backward pass is over.
  explicit Arena(bool keeps_all = false) : keeps_all_(keeps_all) {}

  Tensor make(std::string_view name, DType dtype, std::initializer_list<int64_t> shape);  // not initialised
  void reset();

  size_t used() const;                   // bytes handed out now
  size_t peak() const { return peak_; }  // the most that was handed out at a time
  size_t capacity() const;               // bytes taken from the system

  // Gives back what was made during its life.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), block_(arena.block_), offset_(arena.offset_) {}
    ~Scope() {
      if (!arena_.keeps_all_) arena_.rewind(block_, offset_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    size_t block_, offset_;
  };

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> bytes;
    size_t size = 0;
    size_t base = 0;  // bytes in the blocks before it
  };
  static Block new_block(size_t size, size_t base);
  void rewind(size_t block, size_t offset);
  std::byte* take(size_t bytes);

  std::vector<Block> blocks_;
  size_t block_ = 0;   // the block that is being filled
  size_t offset_ = 0;  // and how far
  size_t peak_ = 0;
  bool keeps_all_;
};

}  // namespace orrery
