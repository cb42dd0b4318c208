#include "kernels/decorated_kernels.h"

#include <doctest/doctest.h>

#include "config/arithmetic.h"
#include "kernels/fast/fast_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("the operations that a model asks for are those of the formula, to the last one") {
  for (int variant = 0; variant < kVariants; ++variant) {
    CAPTURE(variant);
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32));
    FastKernels fast{Threads(1)};
    CountingKernels counting(fast);
    const auto ids = random_ids(70, config.vocab_size, 1);
    const auto state = model.new_sequence();
    Arena arena;
    int64_t expected = 0, expected_products = 0;
    for (const int count : {50, 1, 19}) {
      std::vector<Row> rows;
      for (int i = 0; i < count; ++i) rows.push_back({ids[size_t(i)], state->length() + i, state.get(), i % 3 == 0});
      const RowCounts counts = consecutive_rows(config, state->length(), count, (count + 2) / 3);
      const FlopCount flops = forward_flops(config, counts);
      expected += flops.total();
      expected_products += flops.matmul;
      arena.reset();
      model.forward(rows, counting, arena);
    }
    CHECK(sum(counting.totals()).flops == expected);
    CHECK(counting.totals().at("matmul").flops == expected_products);
    CHECK(counting.totals().at("attention").calls == 3 * config.n_layers);
  }
}

TEST_CASE("decorated kernels give the same logits as those inside") {
  const ModelConfig config = small_config(5);
  Transformer model(random_model(config, DType::F16));
  FastKernels fast{Threads(2)};
  TimingKernels timing(fast);
  CountingKernels counting(timing);
  const auto ids = random_ids(30, config.vocab_size, 2);
  CHECK(uncached_logits(model, counting, ids) == uncached_logits(model, fast, ids));
  CHECK(sum(timing.totals()).seconds > 0);
  CHECK(sum(timing.totals()).flops == sum(counting.totals()).flops);
  const auto matrices =
      static_cast<uint64_t>(parameter_count(config).matrices + int64_t{config.d_model} * config.vocab_size);
  CHECK(counting.totals().at("matmul").weight_bytes == 2 * matrices);
}
