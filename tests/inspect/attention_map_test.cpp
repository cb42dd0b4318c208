#include "inspect/attention_map.h"

#include <doctest/doctest.h>

#include "generate/generate.h"
#include "inspect/recorder.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("attention map: the weights of a layer, from one call or from one for each token") {
  Transformer model(random_model(small_config(0), DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  const int n = 7;
  const auto ids = random_ids(n, model.config().vocab_size, 1);
  AttentionMap whole(1, {}, n), by_token(1, {}, n), one_head(1, 2, n), other_layer(0, 2, n);
  Recorder recorder({"blk.1.attn.weights"});
  Arena arena;
  {
    Observer* const observers[] = {&whole, &one_head, &other_layer, &recorder};
    prefill(model, *model.new_sequence(), ids, kernels, arena, {}, observers);
  }
  const auto state = model.new_sequence();
  for (const TokenId id : ids) {
    Observer* const observers[] = {&by_token};
    prefill(model, *state, std::span(&id, 1), kernels, arena, {}, observers);
  }
  CHECK(whole.heads() == std::vector{0, 1, 2, 3});
  CHECK(one_head.heads() == std::vector{2});
  CHECK(one_head.weights()[0] == whole.weights()[2]);
  CHECK(other_layer.weights()[0] != one_head.weights()[0]);
  const auto expected = numbers(recorder["blk.1.attn.weights"]);
  for (size_t head = 0; head < 4; ++head) {
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(head) * n * n;
    CHECK(whole.weights()[head] == std::vector(first, first + n * n));
    CHECK(largest_difference(whole.weights()[head], by_token.weights()[head]) < 1e-6);
  }
}
