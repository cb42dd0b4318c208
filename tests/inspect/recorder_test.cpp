#include "inspect/recorder.h"

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("Recorder: keeps copies of what it was asked for, after the arena is gone") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  Recorder recorder({"blk.1.attn.weights", "logits", "blk.9.resid"});
  Recorder all([](std::string_view) { return true; });
  Observer* const observers[] = {&recorder, &all};
  std::vector<double> logits;
  {
    Arena arena;
    const std::vector<TokenId> ids = random_ids(4, config.vocab_size, 1);
    std::vector<Row> rows;
    for (size_t i = 0; i < ids.size(); ++i) rows.push_back({ids[i], static_cast<int>(i)});
    logits = numbers(model.forward(rows, kernels, arena, observers));
  }
  CHECK(recorder.names() == std::vector<std::string>{"blk.1.attn.weights", "logits"});
  CHECK(numbers(recorder["logits"]) == logits);
  CHECK(shape_text(recorder["blk.1.attn.weights"]) == "[" + std::to_string(config.n_heads) + ", 4, 4]");
  CHECK(all.names().front() == "embed");
  CHECK(numbers(all["blk.1.attn.weights"]) == numbers(recorder["blk.1.attn.weights"]));
  CHECK_ERROR(recorder["embed"], "no tensor of this name was recorded");
}
