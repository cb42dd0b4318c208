#include "base/parallel.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

namespace {

using Pieces = std::set<std::pair<int64_t, int64_t>>;

Pieces pieces_of(int threads, int64_t n, int64_t grain) {
  Pieces pieces;
  std::mutex mutex;
  Threads(threads).parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    REQUIRE(pieces.emplace(begin, end).second);
  });
  return pieces;
}

}  // namespace

TEST_CASE("Threads: the number must make sense") {
  CHECK(Threads(1).count() == 1);
  CHECK(Threads(512).count() == 512);
  CHECK_THROWS_AS(Threads(0), Error);
  CHECK_THROWS_AS(Threads(-1), Error);
  CHECK_THROWS_AS(Threads(513), Error);
  CHECK(default_thread_count() >= 1);
}

TEST_CASE("parallel_for: the pieces depend on n and grain alone") {
  for (const int64_t n : {1, 2, 7, 64, 100}) {
    for (const int64_t grain : {1, 2, 3, 7, 64, 1000}) {
      Pieces expected;
      for (int64_t begin = 0; begin < n; begin += grain) expected.emplace(begin, std::min(n, begin + grain));
      for (const int threads : {1, 2, 3, 8}) CHECK(pieces_of(threads, n, grain) == expected);
    }
  }
}

TEST_CASE("parallel_for: odd arguments") {
  CHECK(pieces_of(2, 0, 4).empty());
  CHECK(pieces_of(2, -5, 4).empty());
  CHECK(pieces_of(2, 3, 0).size() == 3);
  CHECK(pieces_of(2, 3, -1).size() == 3);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK(pieces_of(2, 5, largest) == Pieces{{0, 5}});
  CHECK(pieces_of(2, largest, largest) == Pieces{{0, largest}});
  CHECK(pieces_of(2, largest, largest - 1) == Pieces{{0, largest - 1}, {largest - 1, largest}});
}

TEST_CASE("parallel_for: an exception comes through, the first piece's, whatever the threads") {
  for (const int threads : {1, 2, 3}) {
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> running = 0;
      try {
        Threads(threads).parallel_for(50, 1, [&](int64_t begin, int64_t) {
          ++running;
          const bool fails = begin >= 10 && begin % 2 == 0;
          --running;
          if (fails) throw Error({.what = "piece " + std::to_string(begin)});
        });
        FAIL("nothing was thrown");
      } catch (const Error& error) {
        CHECK(std::string(error.what()) == "piece 10");
      }
      CHECK(running == 0);
    }
  }
}

TEST_CASE("parallel_for: may be called from within itself") {
  std::atomic<int64_t> sum = 0;
  const Threads threads(2);
  threads.parallel_for(10, 1, [&](int64_t begin, int64_t) {
    threads.parallel_for(10, 3, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) sum += begin * 10 + i;
    });
  });
  CHECK(sum == 99 * 100 / 2);
}
