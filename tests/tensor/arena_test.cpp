#include "tensor/arena.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"

using namespace orrery;

namespace {

bool is_aligned(const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.data) % 64 == 0; }

}  // namespace

TEST_CASE("Arena: tensors are aligned, apart from each other, and stay where they are") {
  Arena arena;
  Random random(8);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 300; ++i) {
    const auto n = static_cast<int64_t>(random.below(20000));
    Tensor tensor = arena.make("t", DType::F32, {n});
    REQUIRE(is_aligned(tensor));
    for (int64_t j = 0; j < n; ++j) values<float>(tensor)[j] = static_cast<float>(i);
    tensors.push_back(tensor);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (int64_t j = 0; j < tensors[i].shape[0]; ++j) {
      REQUIRE(values<float>(tensors[i])[j] == static_cast<float>(i));
    }
  }
}

TEST_CASE("Arena: after reset() the same calls get the same places") {
  Arena arena;
  const auto pass = [&] {
    std::vector<std::byte*> places;
    for (const int64_t n : {10, 100000, 3, 500000, 7, 70000}) places.push_back(arena.make("t", DType::F32, {n}).data);
    return places;
  };
  pass();
  CHECK(arena.used() == arena.peak());
  arena.reset();  // all that it has taken becomes one block
  CHECK(arena.used() == 0);
  const size_t peak = arena.peak();
  const auto second = pass();
  CHECK(arena.used() <= peak);
  arena.reset();
  CHECK(pass() == second);
  CHECK(arena.peak() == peak);
}

TEST_CASE("Arena: passes of many sizes take no more than the largest") {
  Arena arena;
  for (int64_t n = 1; n < 200; ++n) {
    for (int i = 0; i < 20; ++i) arena.make("t", DType::F32, {(n * 7919) % 10007});
    arena.reset();
  }
  CHECK(arena.capacity() < 4 * 20 * 10007 * sizeof(float));
}

TEST_CASE("Arena: a scope gives back what was made in it") {
  Arena arena;
  const Tensor before = arena.make("before", DType::F32, {16});
  *values<float>(before) = 1;
  const size_t used = arena.used();
  std::byte* inside = nullptr;
  {
    const Arena::Scope outer(arena);
    inside = arena.make("inside", DType::F32, {16}).data;
    {
      const Arena::Scope inner(arena);
      arena.make("large", DType::F32, {1000000});  // into another block
      CHECK(arena.used() > 4000000);
    }
    CHECK(arena.used() == used + 64);
  }
  CHECK(arena.used() == used);
  CHECK(arena.peak() > 4000000);
  CHECK(arena.make("after", DType::F32, {16}).data == inside);
  CHECK(*values<float>(before) == 1);
}

TEST_CASE("Arena: one that keeps all gives back with reset() alone") {
  Arena arena(true);
  std::byte* inside = nullptr;
  {
    const Arena::Scope scope(arena);
    inside = arena.make("inside", DType::F32, {16}).data;
  }
  CHECK(arena.used() == 64);
  CHECK(arena.make("after", DType::F32, {16}).data != inside);
  arena.reset();
  CHECK(arena.used() == 0);
}

TEST_CASE("Arena: names, types and shapes are set") {
  Arena arena;
  const Tensor tensor = arena.make("q", DType::Q8_0, {2, 64});
  CHECK(std::string(tensor.name) == "q");
  CHECK(shape_text(tensor) == "[2, 64]");
  CHECK(n_bytes(tensor) == 2 * 2 * 34);
  CHECK(arena.used() == 192);
  CHECK(arena.make("empty", DType::F32, {0, 5}).data != nullptr);
}

TEST_CASE("Arena: shapes for which there is no memory") {
  Arena arena;
  CHECK_THROWS_AS(arena.make("t", DType::F32, {-1, 4}), Error);
  CHECK_THROWS_AS(arena.make("t", DType::F32, {std::numeric_limits<int64_t>::max(), 4}), Error);
  CHECK_THROWS_AS(arena.make("t", DType::F64, {int64_t{1} << 40, 1000}), Error);
  CHECK(arena.used() == 0);
}
