#include <limits>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf_builder.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Fixture {
  TemporaryFolder folder;

  Checkpoint load(const GgufBuilder& builder) {
    return load_checkpoint(write_file(folder / "m.gguf", builder.bytes()));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "llama: defaults of the keys that may be missing") {
  const ModelConfig config = load(tiny_llama()).config;
  CHECK(config.head_dim == 2);
  CHECK(config.n_kv_heads == 1);
  CHECK(config.rope_dims == 2);
  CHECK(config.rope_base == 10000);
  CHECK(config.rope_scale == 1);
  CHECK(config.vocab_size == 3);
  CHECK(config.tied_head);
}

TEST_CASE_FIXTURE(Fixture, "llama: keys that must be there are asked for by name") {
  CHECK_ERROR(load(tiny_llama({"general.architecture"})), "family \"\" are not supported", "llama");
  for (const char* key :
       {"llama.context_length", "llama.embedding_length", "llama.block_count", "llama.feed_forward_length",
        "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    CHECK_ERROR(load(tiny_llama({key})), key, "does not have this key");
  }
}

TEST_CASE_FIXTURE(Fixture, "llama: a window is used where it is shorter than the context") {
  CHECK(load(tiny_llama()).config.window == 0);
  CHECK(load(tiny_llama().number("llama.attention.sliding_window", 4)).config.window == 4);
  CHECK(load(tiny_llama().number("llama.attention.sliding_window", 4)).config.context_length == 8);
  CHECK(load(tiny_llama().number("llama.attention.sliding_window", 9)).config.window == 0);
}

TEST_CASE_FIXTURE(Fixture, "llama: what a file may ask for and we lack is refused by name") {
  const auto refused = [&](const char* key, const GgufBuilder& builder) {
    CHECK_ERROR(load(builder), key, "not supported");
  };
  refused("llama.expert_count", tiny_llama().number("llama.expert_count", 8));
  refused("llama.rope.scaling.type", tiny_llama().text("llama.rope.scaling.type", "longrope"));
  refused("llama.rope.scaling.yarn_ext_factor",
          tiny_llama().text("llama.rope.scaling.type", "yarn").real("llama.rope.scaling.yarn_ext_factor", 0.5));
  refused("llama.attention.value_length", tiny_llama().number("llama.attention.value_length", 4));
  refused("llama.attention.head_count_kv", tiny_llama().array("llama.attention.head_count_kv", kUint32, 1, raw(1)));
  refused("llama.feed_forward_length",
          tiny_llama({"llama.feed_forward_length"}).array("llama.feed_forward_length", kUint32, 1, raw(2)));
  refused("llama.logit_scale", tiny_llama().real("llama.logit_scale", 2));
  refused("llama.use_parallel_residual", tiny_llama().add("llama.use_parallel_residual", kBool, raw<uint8_t>(1)));
  CHECK_ERROR(load(tiny_llama().text("llama.rope.scaling.type", "longrope")), "found longrope");
  CHECK_ERROR(load(tiny_llama().number("llama.expert_count", 8)), "MoE");
  CHECK_ERROR(load(tiny_llama({"general.architecture"}).text("general.architecture", "falcon")), "falcon", "llama");
  // The same keys where they ask for nothing.
  CHECK(load(tiny_llama().number("llama.expert_count", 0)).config.n_layers == 1);
  CHECK(load(tiny_llama().number("llama.attention.sliding_window", 8)).config.n_layers == 1);
  CHECK(load(tiny_llama().text("llama.rope.scaling.type", "none").real("llama.rope.scaling.factor", 4))
            .config.rope_scale == 1);
}

TEST_CASE_FIXTURE(Fixture, "llama: linear scaling of positions, by the new and the old key") {
  CHECK(load(tiny_llama().text("llama.rope.scaling.type", "linear").real("llama.rope.scaling.factor", 4))
            .config.rope_scale == 4);
  CHECK(load(tiny_llama().real("llama.rope.scale_linear", 2)).config.rope_scale == 2);
  CHECK_ERROR(load(tiny_llama().real("llama.rope.scale_linear", -2)), "scale of the rotary positions");
}

TEST_CASE_FIXTURE(Fixture, "llama: numbers that make no sense") {
  const auto with = [&](const char* key, uint32_t value) { return tiny_llama({key}).number(key, value); };
  CHECK_ERROR(load(with("llama.block_count", 0)), "number of layers", "found 0");
  CHECK_ERROR(load(with("llama.block_count", ~0u)), "llama.block_count", "makes no sense", "4294967295");
  CHECK_ERROR(load(with("llama.embedding_length", 1u << 30)), "width");
  CHECK_ERROR(load(with("llama.attention.head_count", 0)), "heads", "found 0");
  CHECK_ERROR(load(with("llama.attention.head_count", 3)), "heads", "found 3");
  CHECK_ERROR(load(with("llama.attention.head_count_kv", 2)), "key-value heads", "1 to 1", "found 2");
  CHECK_ERROR(load(with("llama.rope.dimension_count", 3)), "rotated elements", "found 3");
  CHECK_ERROR(load(with("llama.rope.dimension_count", 4)), "rotated elements", "head size 2");
  CHECK_ERROR(load(with("llama.context_length", 0)), "context length");
  CHECK_ERROR(load(tiny_llama().real("llama.rope.freq_base", 0)), "base of the rotary positions");
  CHECK_ERROR(load(tiny_llama().real("llama.rope.freq_base", std::numeric_limits<float>::quiet_NaN())), "base");
  CHECK_ERROR(
      load(tiny_llama({"llama.attention.layer_norm_rms_epsilon"}).real("llama.attention.layer_norm_rms_epsilon", -1)),
      "epsilon");
  CHECK_ERROR(load(tiny_llama({"llama.block_count"}).text("llama.block_count", "1")), "llama.block_count",
              "wrong type");
  CHECK_ERROR(load(tiny_llama().number("llama.rope.freq_base", 10000)), "llama.rope.freq_base", "float32", "uint32");
}

TEST_CASE_FIXTURE(Fixture, "llama: biases are there or not") {
  GgufBuilder builder = tiny_llama();
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
    builder.tensor_with_data("blk.0." + std::string(name) + ".bias", {2}, kF32, std::string(8, '\0'));
  }
  const ModelConfig config = load(builder).config;
  CHECK(config.attention_bias);
  CHECK(config.output_bias);
  CHECK(config.ffn_bias);
  // A bias without those of its kind is not used, so it is not allowed.
  CHECK_ERROR(load(tiny_llama().tensor_with_data("blk.0.attn_k.bias", {2}, kF32, std::string(8, '\0'))),
              "blk.0.attn_k.bias");
}
