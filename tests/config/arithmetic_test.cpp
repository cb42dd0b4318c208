#include "config/arithmetic.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/error.h"
#include "config/catalogue.h"
#include "generate/generate.h"
#include "kernels/reference/reference_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("parameters of public models are those that their makers state") {
  CHECK(parameter_count(runnable_shape("GPT-2")).total() == 124439808);          // the "124M" of OpenAI's release
  CHECK(parameter_count(runnable_shape("SmolLM2-135M")).total() == 134515008);   // huggingface.co, safetensors
  CHECK(parameter_count(runnable_shape("Qwen3-0.6B")).total() == 596049920);     //
  CHECK(parameter_count(runnable_shape("Llama-3.2-1B")).total() == 1235814400);  //
  CHECK(parameter_count(runnable_shape("stories15M")).total() == 15191712);      // llama2.c's train.py prints it
}

TEST_CASE("the catalogue is found in any case and names its models otherwise") {
  CHECK(runnable_shape("smollm2-135m").n_layers == 30);
  CHECK_THROWS_WITH_AS(catalogued_model("GPT-9"), doctest::Contains("stories15M"), Error);
  CHECK_THROWS_WITH_AS(parse_table("a b\n1 2 3\n", "here"), doctest::Contains("expected 2, found 3"), Error);
}

TEST_CASE("parameters, bytes and cache agree with what a checkpoint and a cache really hold") {
  for (int variant = 0; variant < kVariants; ++variant) {
    for (const DType type : {DType::F32, DType::F16, DType::Q8_0}) {
      CAPTURE(variant);
      const ModelConfig config = small_config(variant);
      const auto checkpoint = random_model(config, type);
      int64_t parameters = 0;
      uint64_t bytes = 0;
      for (const auto& [name, tensor] : checkpoint->weights) {
        parameters += n_elements(tensor);
        bytes += n_bytes(tensor);
      }
      CHECK(parameter_count(config).total() == parameters);
      CHECK(weight_bytes(config, type) == bytes);
    }
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32), {.key_type = DType::F16, .value_type = DType::F32});
    ReferenceKernels<float> kernels{Threads(1)};
    const auto state = model.new_sequence();
    Arena arena;
    prefill(model, *state, random_ids(128, config.vocab_size, 1), kernels, arena);
    CHECK(state->bytes() == 128 * kv_bytes_per_position(config, DType::F16, DType::F32));
  }
}

TEST_CASE("a full cache of SmolLM2-135M") {
  // 30 layers, keys and values, 3 heads of 64, 2 bytes.
  CHECK(kv_bytes_per_position(runnable_shape("SmolLM2-135M"), DType::F16, DType::F16) == 30 * 2 * 3 * 64 * 2);
}

TEST_CASE("activations take what the plan says") {
  for (int variant = 0; variant < kVariants; ++variant) {
    for (const int rows : {1, 7, 130}) {
      for (const int logit_rows : {0, 1, rows}) {
        CAPTURE(variant);
        CAPTURE(rows);
        CAPTURE(logit_rows);
        const ModelConfig config = small_config(variant);
        Transformer model(random_model(config, DType::F32));
        ReferenceKernels<float> kernels{Threads(1)};
        std::vector<Row> all;
        for (int i = 0; i < rows; ++i) all.push_back({1, i, nullptr, i < logit_rows});
        Arena arena(true);  // taken once to grow, so that blocks leave no gaps the second time
        model.forward(all, kernels, arena);
        Arena measured;
        model.forward(all, kernels, measured);
        const auto planned = static_cast<double>(activation_bytes(config, rows, logit_rows, DType::F32));
        CHECK(static_cast<double>(measured.peak()) >= planned);
        // Only the ends of blocks that were too small for the next tensor come on top.
        CHECK(static_cast<double>(measured.peak()) <= planned * 1.5 + 512 * 1024);
      }
    }
  }
}

TEST_CASE("floating-point operations follow 2 per weight and row") {
  const ModelConfig& config = runnable_shape("SmolLM2-135M");
  const ParameterCount count = parameter_count(config);
  const FlopCount flops = forward_flops(config, consecutive_rows(config, 0, 512, 1));
  CHECK(flops.matmul == 2 * 512 * count.matrices + 2 * count.embedding);
  CHECK(flops.attention_products == int64_t{4} * 64 * 9 * 30 * (512 * 513 / 2));
  const FlopParts parts = forward_flop_parts(config, consecutive_rows(config, 0, 512, 1));
  CHECK(parts.projections + parts.feed_forward == 2 * 512 * count.matrices);
  CHECK(parts.feed_forward == int64_t{2} * 512 * 30 * 3 * 576 * 1536);
  CHECK(parts.attention == flops.attention_products);
  CHECK(parts.head == 2 * count.embedding);
  CHECK(consecutive_rows(config, 10, 2, 1).visible_keys == 11 + 12);
}

TEST_CASE("keys in a window are those that one finds by counting") {
  ModelConfig config;
  for (config.window = 1; config.window < 12; ++config.window) {
    for (int first = 0; first < 15; ++first) {
      for (int rows = 0; rows < 15; ++rows) {
        int64_t expected = 0;
        for (int row = first; row < first + rows; ++row) expected += std::min(row + 1, config.window);
        CHECK(consecutive_rows(config, first, rows, 0).windowed_keys == expected);
      }
    }
  }
}

TEST_CASE("training counts of a windowed layer the window, of others the text") {
  ModelConfig config = runnable_shape("SmolLM2-135M");
  const double all = training_flops_per_token(config, 1000);
  config.window = 100;
  config.global_every = 6;  // 5 of 30 layers see all
  CHECK(all - training_flops_per_token(config, 1000) == 12.0 * 9 * 64 * 25 * 900);
  CHECK(training_flops_per_token(config, 100) == 6.0 * 134479872 + 12.0 * 9 * 64 * 30 * 100);
}
