// What is timed is what was asked for.
#include "measure/forward_time.h"

#include <doctest/doctest.h>

#include "base/clock.h"
#include "config/arithmetic.h"
#include "kernels/decorated_kernels.h"
#include "learn/learner.h"
#include "recurrent/recurrent_support.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("the time of a forward pass: so many passes over so many texts, without logits") {
  Learner learner(small_recurrent_config(Architecture::gru), DType::F32, Threads(1));
  CountingKernels kernels(*learner.forward);
  const double start = seconds_now();
  const double shortest = shortest_forward(*learner.model, kernels, 3, 10, 4);
  CHECK(shortest > 0);
  CHECK(4 * shortest <= seconds_now() - start);
  CHECK(sum(kernels.totals()).flops == 4 * 3 * forward_flops(learner.config, {.rows = 10}).total());

  Learner block(llama_config({.n_layers = 1, .d_model = 32, .n_heads = 2, .vocab_size = 40, .context_length = 16}),
                DType::F32, Threads(1));
  CountingKernels counting(*block.forward);
  shortest_forward(*block.model, counting, 2, 16, 1);  // texts do not see each other: each is as long as the context
  const RowCounts alone = consecutive_rows(block.config, 0, 16, 0);
  CHECK(sum(counting.totals()).flops ==
        forward_flops(block.config, {.rows = 32, .visible_keys = 2 * alone.visible_keys}).total());
}
