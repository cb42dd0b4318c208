#include "model/kv_cache.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/fast/fast_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<double> next_logits(LanguageModel& model, Kernels& kernels, SequenceState& state, TokenId token) {
  Arena arena;
  const Row row{token, state.length(), &state, true};
  return numbers(model.forward(std::span(&row, 1), kernels, arena));
}

void feed(LanguageModel& model, Kernels& kernels, SequenceState& state, std::span<const TokenId> ids) {
  Arena arena;
  std::vector<Row> rows;
  for (size_t i = 0; i < ids.size(); ++i) {
    rows.push_back({ids[i], state.length() + static_cast<int>(i), &state, false});
  }
  const Tensor logits = model.forward(rows, kernels, arena);
  CHECK(logits.shape[0] == 0);  // nobody wanted any
}

}  // namespace

TEST_CASE("a fork goes on by itself, and so does its origin") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(1)};
  const auto ids = random_ids(140, config.vocab_size, 1);  // ends inside the second page
  const auto state = model.new_sequence();
  feed(model, kernels, *state, ids);
  const auto fork = state->fork();
  CHECK(fork->length() == 140);

  const auto of_fork = next_logits(model, kernels, *fork, 5);
  const auto of_state = next_logits(model, kernels, *state, 9);
  CHECK(of_fork != of_state);

  // The same two texts from their beginnings.
  for (const auto& [token, expected] : {std::pair{5, of_fork}, std::pair{9, of_state}}) {
    const auto fresh = model.new_sequence();
    feed(model, kernels, *fresh, ids);
    CHECK(next_logits(model, kernels, *fresh, token) == expected);
  }
}

TEST_CASE("a sequence that is cut short goes on as if the rest had never been") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(1)};
  const auto ids = random_ids(200, config.vocab_size, 2);
  const auto state = model.new_sequence();
  feed(model, kernels, *state, ids);
  const size_t bytes = state->bytes();
  state->truncate(100);
  CHECK(state->length() == 100);
  CHECK(state->bytes() * 2 == bytes);
  const auto ours = next_logits(model, kernels, *state, 3);
  const auto fresh = model.new_sequence();
  feed(model, kernels, *fresh, std::span(ids).first(100));
  // 100 rows in one call and 200 rows in one call need not round alike.
  const auto expected = next_logits(model, kernels, *fresh, 3);
  CHECK(largest_difference(ours, expected) <= 1e-4 * largest_magnitude(expected));
  CHECK_THROWS_AS(state->truncate(102), Error);
  CHECK_THROWS_AS(state->truncate(-1), Error);
}

TEST_CASE("pages come back to the pool, and hold what the arithmetic says") {
  const KvLayout layout{.n_layers = 3, .kv_dim = 10, .key_type = DType::F16, .value_type = DType::F32};
  CHECK(layout.page_bytes() == 3 * 128 * 10 * (2 + 4));
  const auto pool = std::make_shared<KvPool>(layout);
  const std::byte* first = nullptr;
  {
    const KvPool::Page page = pool->take();
    first = page.get();
  }
  CHECK(pool->take().get() == first);
  KvPool::Page orphan;
  {
    const auto short_lived = std::make_shared<KvPool>(layout);
    orphan = short_lived->take();
  }
  orphan.get()[layout.page_bytes() - 1] = std::byte{1};  // still ours
}

TEST_CASE("rows without a cache are cut into the same spans") {
  std::vector<float> numbers(300 * 2);
  const Tensor keys = make_tensor("k", DType::F32, {300, 2}, reinterpret_cast<std::byte*>(numbers.data()));
  const auto spans = spans_of_rows(keys, keys);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].keys.shape[0] == 128);
  CHECK(spans[2].keys.shape[0] == 44);
  CHECK(values<float>(spans[1].keys) == numbers.data() + 256);
}
