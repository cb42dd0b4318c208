// SHA-256 (FIPS 180-4): the checksum that hosts of model files publish.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace orrery {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  std::string hex();  // 64 digits, of all that was added; add nothing afterwards

 private:
  static constexpr size_t kBlockBytes = 64;
  void add_block(const std::byte* block);

  // The first 32 bits of the fractions of the square roots of the first eight primes.
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> rest_ = {};  // of the last block, which is not full yet
  uint64_t size_ = 0;
};

std::string sha256(std::span<const std::byte> bytes);
std::string sha256_of_file(const std::string& path);  // throws Error

}  // namespace orrery
