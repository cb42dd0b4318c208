#include "base/random.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace orrery;

// Made by a Python script written from the papers: Python's integers have no overflow to go wrong. The first value of
// seed 0 is also the one that Rust's rand_xoshiro documents.
TEST_CASE("Random: the values of xoshiro256** seeded by SplitMix64") {
  struct Expected {
    uint64_t seed, first, second, third, thousandth;
  };
  const std::vector<Expected> table = {
      {0, 0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x7aac8c483a2edd2f},
      {1, 0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0xb8517c33c344d153},
      {42, 0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0x8de5848c61ab8968},
      {UINT64_MAX, 0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xc3c93ea5cde434cc},
  };
  for (const Expected& expected : table) {
    Random random(expected.seed);
    CHECK(random.next() == expected.first);
    CHECK(random.next() == expected.second);
    CHECK(random.next() == expected.third);
    for (int i = 4; i < 1000; ++i) random.next();
    CHECK(random.next() == expected.thousandth);
  }
}

TEST_CASE("Random: uniform() takes the upper 53 bits") {
  Random random(0);
  CHECK(random.uniform() == 0.6012629994179048);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double value = random.uniform();
    REQUIRE(value >= 0);
    REQUIRE(value < 1);
    sum += value;
  }
  CHECK(sum / 100000 == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("Random: normal() has the moments of the normal distribution") {
  Random random(5);
  const int n = 200000;
  double sums[5] = {};
  for (int i = 0; i < n; ++i) {
    const double value = random.normal();
    REQUIRE(std::isfinite(value));
    for (int power = 1; power <= 4; ++power) sums[power] += std::pow(value, power) / n;
  }
  CHECK(std::abs(sums[1]) < 0.01);  // four standard errors are 0.009, 0.013, 0.035 and 0.088
  CHECK(std::abs(sums[2] - 1) < 0.02);
  CHECK(std::abs(sums[3]) < 0.04);
  CHECK(std::abs(sums[4] - 3) < 0.1);
}

TEST_CASE("Random: below(n) gives each number as often as the others") {
  Random random(6);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) CHECK(std::abs(count - 10000) < 400);  // four standard deviations are 370
  for (int i = 0; i < 100; ++i) CHECK(random.below(1) == 0);
  // Above 2^63 every other draw must be thrown away, or the low numbers come twice as often.
  int low = 0;
  const uint64_t n = (uint64_t{3} << 62);
  for (int i = 0; i < 30000; ++i) low += random.below(n) < (uint64_t{1} << 62);
  CHECK(std::abs(low - 10000) < 400);
}
