// Working memory for the pieces of a parallel loop. A piece borrows a buffer and gives it back at its end, so there are
// as many buffers as pieces run at a time, and once these have grown nothing is allocated any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace orrery {

class ScratchPool {
 public:
  static constexpr size_t kMaxParts = 8;

  struct Memory {
    std::unique_ptr<float[]> floats;
    size_t size = 0;
  };

  // One buffer, cut into the parts asked for: scratch[0], scratch[1], ... Each begins on a cache line of its own.
  class Scratch {
   public:
    ~Scratch() { pool_.give_back(std::move(memory_)); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    float* operator[](size_t part) const { return parts_[part]; }

   private:
    friend class ScratchPool;
    Scratch(ScratchPool& pool, Memory memory, std::initializer_list<int64_t> sizes);

    ScratchPool& pool_;
    Memory memory_;
    std::array<float*, kMaxParts> parts_ = {};
  };

  // Parts of that many floats, at most kMaxParts; not initialised. May be called by several threads at a time.
  Scratch borrow(std::initializer_list<int64_t> sizes);

 private:
  void give_back(Memory memory);

  std::mutex mutex_;
  std::vector<Memory> idle_;
};

}  // namespace orrery
