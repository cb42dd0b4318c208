// What folders and GGUF files of Gemma 3 may say, and what is refused.
#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "files/checkpoint.h"
#include "files/gguf_writer.h"
#include "support/expect_error.h"
#include "support/families.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;
using Json = nlohmann::ordered_json;

namespace {

struct Fixture {
  TemporaryFolder folder;
  Checkpoint model = family_model("gemma3");

  Fixture() { write_model_folder(folder.path().string(), "gemma3", model); }

  template <class Change>
  ModelConfig load_changed(const Change& change) {
    Json json = Json::parse(folder_config("gemma3", model.config));
    change(json);
    write_file(folder / "config.json", json.dump());
    return load_checkpoint(folder.path().string()).config;
  }

  ModelConfig written_and_read() {
    write_gguf(folder / "m.gguf", model);
    return load_checkpoint(folder / "m.gguf").config;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "gemma3: the folder's norms have one added, matrices are used where they are") {
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  CHECK(checkpoint.copies.size() == 7 * 6 + 1);
  CHECK(checkpoint.copies[0].reason == "one added: the file has what a norm is more than 1");
  for (const auto& [name, weight] : model.weights) {
    CAPTURE(name);
    const Tensor& read = *checkpoint.find_weight(name);
    CHECK(std::equal(weight.data, weight.data + n_bytes(weight), read.data));
  }
}

TEST_CASE_FIXTURE(Fixture, "gemma3: what config.json leaves out") {
  const ModelConfig config = load_changed([](Json& json) {
    for (const char* key : {"rope_local_base_freq", "rope_scaling", "sliding_window_pattern", "hidden_activation"}) {
      json.erase(key);
    }
    json["rope_theta"] = 250000;
  });
  CHECK(config.local_rope_base == 10000);
  CHECK(config.rope_base == 250000);
  CHECK(config.rope_scale == 1);
  CHECK(config.global_every == 6);
  CHECK(config.embedding_scale == 8);
  CHECK(config.tied_head);
  CHECK(config.is_windowed(4));
  CHECK_FALSE(config.is_windowed(5));
  CHECK(config.is_windowed(6));
}

TEST_CASE_FIXTURE(Fixture, "gemma3: the newer way to say layers and positions") {
  const auto types = [](const char* pattern) {
    Json list = Json::array();
    for (const char* c = pattern; *c != '\0'; ++c) list.push_back(*c == 'G' ? "full_attention" : "sliding_attention");
    return list;
  };
  const auto with_types = [&](const char* pattern) {
    return load_changed([&](Json& json) { json["layer_types"] = types(pattern); }).global_every;
  };
  CHECK(with_types("lllllGl") == 6);
  CHECK(with_types("lGlGlGl") == 2);
  CHECK(with_types("lllllll") > 7);
  CHECK_ERROR(with_types("lGllllG"), "layer_types/3", "without a period");
  CHECK_ERROR(with_types("lllllG"), "layer_types", "every layer", "expected 7, found 6");
  const ModelConfig config = load_changed([&](Json& json) {
    json.erase("rope_scaling");
    json.erase("rope_theta");
    json.erase("rope_local_base_freq");
    json["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 2e6}}},
                               {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 3e4}}}};
  });
  CHECK(config.rope_base == 2e6);
  CHECK(config.rope_scale == 8);
  CHECK(config.local_rope_base == 3e4);
}

TEST_CASE_FIXTURE(Fixture, "gemma3: what we lack is refused by name") {
  const auto with = [&](const char* key, const Json& value) {
    return load_changed([&](Json& json) { json[key] = value; });
  };
  CHECK_ERROR(with("attn_logit_softcapping", 50.0), "attn_logit_softcapping", "soft-capped");
  CHECK_ERROR(with("final_logit_softcapping", 30.0), "final_logit_softcapping", "soft-capped");
  CHECK_ERROR(with("use_bidirectional_attention", true), "use_bidirectional_attention", "not supported");
  CHECK_ERROR(with("hidden_activation", "silu"), "hidden_activation", "expected gelu_pytorch_tanh, found silu");
  CHECK_ERROR(with("model_type", "gemma3"), "also sees images", "config.json");
  CHECK_ERROR(with("model_type", "gemma"), "family gemma are not", "gemma3_text");
  CHECK_ERROR(with("sliding_window_pattern", -1), "sliding_window_pattern");
  CHECK_ERROR(with("query_pre_attn_scalar", -1), "scale of the attention scores");
  CHECK_ERROR(with("rope_local_base_freq", -1), "base of the windowed layers");
}

TEST_CASE_FIXTURE(Fixture, "gemma3: GGUF has places for what usually differs, and for nothing else") {
  CHECK(written_and_read().global_every == 6);
  model.config.global_every = 3;
  model.config.local_rope_base = 20000;
  const ModelConfig config = written_and_read();
  CHECK(config.global_every == 3);
  CHECK(config.local_rope_base == 20000);
  CHECK(config.window == 8);
  CHECK(config.rope_scale == 2);
  model.config.query_size = 20;
  CHECK_ERROR(written_and_read(), "scale of the attention scores");
  model.config.query_size = 16;
  model.config.embedding_scale = 1;
  CHECK_ERROR(written_and_read(), "scale of the embedding");
  model.config.family = "llama";
  CHECK_ERROR(written_and_read(), "cannot be written as a model of the family llama");
}
