// What must hold for any transformer, over random models of every kind of config.
#include <numeric>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<int> ones(int count) { return std::vector<int>(static_cast<size_t>(count), 1); }

std::vector<int> random_split(int count, uint64_t seed) {
  Random random(seed);
  std::vector<int> split;
  for (int left = count; left > 0; left -= split.back()) {
    split.push_back(1 + static_cast<int>(random.below(static_cast<uint64_t>(std::min(left, 97)))));
  }
  return split;
}

// How far logits may lie apart that are equal on paper: a share of the largest.
double bound(const std::vector<double>& logits) { return 1e-4 * largest_magnitude(logits); }

}  // namespace

TEST_CASE("prefill in one call, token by token, in any split, and without a cache give the same logits") {
  for (int variant = 0; variant < kVariants; ++variant) {
    CAPTURE(variant);
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32));
    FastKernels kernels{Threads(2)};
    constexpr int kLength = 300;  // three pages
    const auto ids = random_ids(kLength, config.vocab_size, 3);
    const int whole[] = {kLength};
    const auto expected = cached_logits(model, kernels, ids, whole);
    CHECK(largest_magnitude(expected) > 0.1);
    CHECK(largest_difference(cached_logits(model, kernels, ids, ones(kLength)), expected) <= bound(expected));
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const auto split = random_split(kLength, seed);
      CHECK(largest_difference(cached_logits(model, kernels, ids, split), expected) <= bound(expected));
    }
    CHECK(largest_difference(uncached_logits(model, kernels, ids), expected) <= bound(expected));
  }
}

TEST_CASE("past position 512 the cache is still right") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(2)};
  const auto ids = random_ids(700, config.vocab_size, 4);
  std::vector<int> split = {512, 100};
  for (int i = 0; i < 88; ++i) split.push_back(1);
  const auto expected = uncached_logits(model, kernels, ids);
  CHECK(largest_difference(cached_logits(model, kernels, ids, split), expected) <= bound(expected));
}

TEST_CASE("logits depend on earlier tokens only") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  auto ids = random_ids(20, config.vocab_size, 5);
  const auto before = uncached_logits(model, kernels, ids);
  ids[10] = (ids[10] + 1) % config.vocab_size;
  const auto after = uncached_logits(model, kernels, ids);
  const auto first_changed = static_cast<size_t>(10 * config.vocab_size);
  CHECK(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(first_changed), after.begin()));
  CHECK(before[first_changed] != after[first_changed]);
}

TEST_CASE("a layer with a window forgets what lies further back") {
  ModelConfig config = small_config(7);
  config.n_layers = 1;
  config.window = 6;
  Transformer model(random_model(config, DType::F32));
  for (int n = 14; n <= 30; n += 16) {  // few rows and many
    ReferenceKernels<float> reference{Threads(1)};
    FastKernels fast{Threads(1)};
    for (Kernels* kernels : {static_cast<Kernels*>(&reference), static_cast<Kernels*>(&fast)}) {
      auto ids = random_ids(n, config.vocab_size, 5);
      const auto before = uncached_logits(model, *kernels, ids);
      ids[3] = (ids[3] + 1) % config.vocab_size;
      const auto after = uncached_logits(model, *kernels, ids);
      for (int row = 0; row < n; ++row) {
        CAPTURE(row);
        const auto at = static_cast<size_t>(row * config.vocab_size);
        CHECK((before[at] != after[at]) == (row >= 3 && row < 3 + 6));
      }
    }
  }
}

TEST_CASE("sequences that share a call do not see each other") {
  for (const DType cache_type : {DType::F32, DType::F16}) {
    const ModelConfig config = small_config(1);
    Transformer model(random_model(config, DType::F32), {.key_type = cache_type, .value_type = cache_type});
    FastKernels kernels{Threads(2)};
    const std::vector<std::vector<TokenId>> texts = {random_ids(150, config.vocab_size, 6),
                                                     random_ids(1, config.vocab_size, 7),
                                                     random_ids(129, config.vocab_size, 8)};
    std::vector<std::unique_ptr<SequenceState>> states;
    std::vector<Row> rows;
    for (const auto& text : texts) {
      states.push_back(model.new_sequence());
      for (size_t i = 0; i < text.size(); ++i) {
        rows.push_back({text[i], static_cast<int>(i), states.back().get(), true});
      }
    }
    Arena arena;
    const auto together = numbers(model.forward(rows, kernels, arena));
    // One more token for each, again in one call, then compare both calls with each text alone.
    rows.clear();
    for (size_t t = 0; t < texts.size(); ++t) rows.push_back({7, static_cast<int>(texts[t].size()), states[t].get()});
    arena.reset();
    const auto next = numbers(model.forward(rows, kernels, arena));
    const auto vocab = static_cast<size_t>(config.vocab_size);
    size_t first = 0;
    for (size_t t = 0; t < texts.size(); ++t) {
      CAPTURE(t);
      auto text = texts[t];
      text.push_back(7);
      const int split[] = {static_cast<int>(text.size()) - 1, 1};
      const auto alone = cached_logits(model, kernels, text, split);
      const size_t count = texts[t].size() * vocab;
      CHECK(largest_difference(std::span(together).subspan(first, count), std::span(alone).first(count)) <=
            bound(alone));
      CHECK(largest_difference(std::span(next).subspan(t * vocab, vocab), std::span(alone).last(vocab)) <=
            bound(alone));
      first += count;
    }
  }
}

TEST_CASE("rows without a state start a new sequence at position 0") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(1)};
  const auto a = random_ids(130, config.vocab_size, 9), b = random_ids(5, config.vocab_size, 10);
  std::vector<Row> rows;
  for (const auto* ids : {&a, &b}) {
    for (size_t i = 0; i < ids->size(); ++i) rows.push_back({(*ids)[i], static_cast<int>(i), nullptr, true});
  }
  Arena arena;
  const auto together = numbers(model.forward(rows, kernels, arena));
  auto alone = uncached_logits(model, kernels, a);
  const auto rest = uncached_logits(model, kernels, b);
  alone.insert(alone.end(), rest.begin(), rest.end());
  CHECK(largest_difference(together, alone) <= bound(alone));
}

TEST_CASE("single and double precision agree within rounding, for every type of weights") {
  for (int variant = 0; variant < kVariants; ++variant) {
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
      CAPTURE(variant);
      CAPTURE(info(type).name);
      const ModelConfig config = small_config(variant);
      const auto checkpoint = random_model(config, type);
      Transformer model(checkpoint);
      Transformer exact_model(checkpoint, {.key_type = DType::F64, .value_type = DType::F64});
      ReferenceKernels<double> exact{Threads(2)};
      ReferenceKernels<float> reference{Threads(2)};
      FastKernels fast{Threads(2)};
      const auto ids = random_ids(40, config.vocab_size, 11);
      const int whole[] = {40};
      const auto expected = cached_logits(exact_model, exact, ids, whole);
      const double allowed = 2e-5 * largest_magnitude(expected);
      CHECK(largest_difference(cached_logits(model, reference, ids, whole), expected) <= allowed);
      CHECK(largest_difference(cached_logits(model, fast, ids, whole), expected) <= allowed);
      CHECK(largest_difference(cached_logits(model, fast, ids, ones(40)), expected) <= allowed);
    }
  }
}

TEST_CASE("an F16 cache stays close to an F32 one") {
  const ModelConfig config = small_config(0);
  const auto checkpoint = random_model(config, DType::F32);
  Transformer wide(checkpoint), narrow(checkpoint, {.key_type = DType::F16, .value_type = DType::F16});
  FastKernels kernels{Threads(2)};
  const auto ids = random_ids(200, config.vocab_size, 12);
  const int whole[] = {200};
  const auto expected = cached_logits(wide, kernels, ids, whole);
  const auto rounded = cached_logits(narrow, kernels, ids, whole);
  CHECK(largest_difference(rounded, expected) <= 5e-3 * largest_magnitude(expected));
  CHECK(largest_difference(rounded, expected) > 0);
}

TEST_CASE("logits are the same bits for any number of threads") {
  for (const DType type : {DType::F32, DType::F16, DType::Q8_0}) {
    for (int variant = 0; variant < kVariants; ++variant) {
      const ModelConfig config = small_config(variant);
      Transformer model(random_model(config, type), {.key_type = DType::F16, .value_type = DType::F16});
      const auto ids = random_ids(310, config.vocab_size, 13);
      const int split[] = {300, 1, 1, 8};
      FastKernels one{Threads(1)}, two{Threads(2)}, three{Threads(3)};
      const auto expected = cached_logits(model, one, ids, split);
      CHECK(cached_logits(model, two, ids, split) == expected);
      CHECK(cached_logits(model, three, ids, split) == expected);
    }
  }
}

TEST_CASE("a call that cannot be computed changes nothing and says why") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32), {.context_length = 16});
  FastKernels kernels{Threads(1)};
  Arena arena;
  const auto state = model.new_sequence();
  const auto attempt = [&](std::vector<Row> rows) { model.forward(rows, kernels, arena); };
  attempt({{1, 0, state.get()}, {2, 1, state.get()}});
  CHECK_THROWS_WITH_AS(attempt({{3, 5, state.get()}}),
                       doctest::Contains("positions are out of order; expected position 2"), Error);
  CHECK_THROWS_WITH_AS(attempt({{300, 2, state.get()}}), doctest::Contains("there is no such token"), Error);
  CHECK_THROWS_WITH_AS(attempt({{-1, 2, state.get()}}), doctest::Contains("there is no such token"), Error);
  CHECK_THROWS_WITH_AS(attempt({}), doctest::Contains("no tokens"), Error);
  std::vector<Row> too_many;
  for (int i = 2; i < 17; ++i) too_many.push_back({1, i, state.get()});
  CHECK_THROWS_WITH_AS(attempt(too_many), doctest::Contains("longer than the context; expected positions 0 to 15"),
                       Error);
  const auto other = model.new_sequence();
  CHECK_THROWS_WITH_AS(attempt({{1, 2, state.get()}, {1, 0, other.get()}, {1, 3, state.get()}}),
                       doctest::Contains("do not stand together"), Error);
  CHECK(state->length() == 2);
  CHECK(other->length() == 0);
}

TEST_CASE("a model must have the weights that its config promises") {
  const ModelConfig config = small_config(0);
  Checkpoint checkpoint(*random_model(config, DType::F32));
  checkpoint.weights.erase("blk.1.ffn_up.weight");
  CHECK_THROWS_WITH_AS(Transformer(std::make_shared<const Checkpoint>(checkpoint)),
                       doctest::Contains("blk.1.ffn_up.weight"), Error);
  CHECK_THROWS_WITH_AS(Transformer(random_model(config, DType::F32), {.context_length = 1025}),
                       doctest::Contains("at most 1024"), Error);
}
