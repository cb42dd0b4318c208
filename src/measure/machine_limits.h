// What this machine can do at most: the figures that a model's speed is held against. They are measured, not looked
// up, and in the same run as what they are compared with, for clocks and neighbours change.
#pragma once

#include <cstddef>
#include <memory>

#include "base/parallel.h"

namespace orrery {

struct MachineLimits {
  double huge_page_bytes_per_second = 0;  // reading memory in pages of 2 MiB where the system gives them
  double mapped_bytes_per_second = 0;     // reading a mapped file that is in memory, pages of 4 KiB
  double flops_per_second = 0;            // F32 multiply-adds in registers, two operations each
};

// Holds the memory that is read, so that limits can be measured again and again. One measurement takes some tenths of
// a second.
class LimitMeter {
 public:
  explicit LimitMeter(size_t bytes = size_t{256} << 20);  // throws Error when there is no memory
  ~LimitMeter();
  LimitMeter(const LimitMeter&) = delete;
  LimitMeter& operator=(const LimitMeter&) = delete;

  MachineLimits measure(const Threads& threads) const;

 private:
  size_t bytes_;
  std::byte* huge_ = nullptr;
  std::byte* mapped_ = nullptr;
};

}  // namespace orrery
