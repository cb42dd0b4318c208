// Random numbers that come out the same on every machine: xoshiro256** (Blackman and Vigna, 2018), its state filled
// from the seed by SplitMix64. std::uniform_real_distribution may differ between standard libraries; this does not.
#pragma once

#include <cstdint>

namespace orrery {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next();             // 64 random bits
  double uniform();            // [0, 1), 53 bits
  double normal();             // mean 0, variance 1 (Box and Muller); last digits are those of the system's log and cos
  uint64_t below(uint64_t n);  // [0, n) without bias; n > 0

 private:
  uint64_t state_[4];
};

uint64_t random_seed();  // from the operating system

}  // namespace orrery
