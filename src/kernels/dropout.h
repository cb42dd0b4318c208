// Which elements dropout takes: a function of the seed and the element's place alone.
#pragma once

#include <cstdint>

namespace orrery {

// The finish of SplitMix64 (Steele, Lea and Flood, 2014) over a counter; its upper 53 bits are the chance.
inline bool is_dropped(double share, uint64_t seed, int64_t element) {
  uint64_t z = seed + 0x9E3779B97F4A7C15u * (static_cast<uint64_t>(element) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53 < share;
}

}  // namespace orrery
