// Each family as GGUF and as a folder: the same random numbers, read by two readers, and another engine's ids.
#include "support/families.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "files/checkpoint.h"
#include "files/gguf_writer.h"
#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const std::vector<TokenId> kPrompt = {72, 101, 259, 4, 199, 31, 8, 260, 77};

std::vector<double> all_logits(Checkpoint checkpoint, const std::vector<TokenId>& prompt = kPrompt) {
  Transformer model(std::make_shared<const Checkpoint>(std::move(checkpoint)));
  ReferenceKernels<double> kernels{Threads(1)};
  return uncached_logits(model, kernels, prompt);
}

// Of the token after the prompt.
std::vector<double> probabilities(Checkpoint checkpoint, const std::vector<TokenId>& prompt) {
  const auto n = static_cast<std::ptrdiff_t>(checkpoint.config.vocab_size);
  const std::vector<double> logits = all_logits(std::move(checkpoint), prompt);
  std::vector<double> last(logits.end() - n, logits.end());
  double sum = 0;
  for (double& value : last) sum += value = std::exp(value);
  for (double& value : last) value /= sum;
  return last;
}

std::vector<TokenId> greedy(Checkpoint checkpoint, const std::vector<TokenId>& prompt, int count) {
  Transformer model(std::make_shared<const Checkpoint>(std::move(checkpoint)));
  FastKernels kernels{Threads(1)};
  SamplerSettings settings;
  settings.temperature = 0;
  Sampler sampler(settings, 0);
  Arena arena;
  return generate(model, prompt, sampler, kernels, arena, {.max_tokens = count}, [](TokenId) { return true; }).ids;
}

std::vector<std::string> reasons(const Checkpoint& checkpoint) {
  std::vector<std::string> all;
  for (const WeightCopy& copy : checkpoint.copies) all.push_back(copy.name + ": " + copy.reason);
  return all;
}

}  // namespace

TEST_CASE("families: a model, its GGUF file and its folder give the same logits") {
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3", "gemma3", "gpt2", "qwen2-yarn", "qwen3-yarn"}) {
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      CAPTURE(family);
      CAPTURE(info(type).name);
      const TemporaryFolder folder;
      const Checkpoint model = family_model(family, type);
      write_gguf(folder / "m.gguf", model);
      write_model_folder(folder.path().string(), family, model);
      const std::vector<double> expected = all_logits(model);
      const Checkpoint from_folder = load_checkpoint(folder.path().string());
      CHECK(from_folder.config.family == model.config.family);
      CHECK(largest_difference(all_logits(from_folder), expected) == 0);
      const Checkpoint from_gguf = load_checkpoint(folder / "m.gguf");
      // The scores of attention are summed in another order where rows changed places.
      CHECK(largest_difference(all_logits(from_gguf), expected) < 1e-9);
      CHECK(from_gguf.copies.empty());
      CHECK(from_gguf.config.context_length == model.config.context_length);
      CHECK(from_gguf.vocabulary.pieces == model.vocabulary.pieces);

      // From the folder to GGUF, and from GGUF to GGUF made anew.
      write_gguf(folder / "second.gguf", from_folder);
      CHECK(largest_difference(all_logits(load_checkpoint(folder / "second.gguf")), expected) < 1e-9);
      Checkpoint anew = from_gguf;
      anew.encoded_metadata.clear();
      write_gguf(folder / "third.gguf", anew);
      CHECK(largest_difference(all_logits(load_checkpoint(folder / "third.gguf")), expected) < 1e-9);
    }
  }
}

TEST_CASE("families: the greedy ids and the probabilities are those of another engine") {
  // tests/data/families.json: node-llama-cpp 3.22.1 (llama.cpp) on the files that write_gguf makes of family_model(),
  // F32, temperature 0, 64 tokens after a prompt of ids; of some the probabilities of the first of them. The prompt of
  // Gemma 3 is nearly four times as long as its window. That engine has GELU as a table in half precision.
  std::ifstream file(data_file("families.json"));
  const auto expected = nlohmann::json::parse(file);
  REQUIRE(expected.size() == 7);
  for (const auto& [family, entry] : expected.items()) {
    CAPTURE(family);
    const auto ids = entry["greedy_ids"].get<std::vector<TokenId>>();
    REQUIRE(ids.size() == 64);
    const TemporaryFolder folder;
    const Checkpoint model = family_model(family);
    write_gguf(folder / "m.gguf", model);
    write_model_folder(folder.path().string(), family, model);
    const auto prompt = entry["prompt_ids"].get<std::vector<TokenId>>();
    CHECK(greedy(load_checkpoint(folder / "m.gguf"), prompt, 64) == ids);
    CHECK(greedy(load_checkpoint(folder.path().string()), prompt, 64) == ids);
    if (!entry.contains("probabilities")) continue;
    const auto theirs = entry["probabilities"].get<std::vector<double>>();
    CHECK(largest_difference(probabilities(load_checkpoint(folder / "m.gguf"), prompt), theirs) < 1e-4);
    CHECK(largest_difference(probabilities(load_checkpoint(folder.path().string()), prompt), theirs) < 1e-4);
  }
}

TEST_CASE("families: with another window Gemma 3 would give other probabilities than that engine") {
  std::ifstream file(data_file("families.json"));
  const auto entry = nlohmann::json::parse(file)["gemma3"];
  const auto prompt = entry["prompt_ids"].get<std::vector<TokenId>>();
  const auto theirs = entry["probabilities"].get<std::vector<double>>();
  Checkpoint model = family_model("gemma3");
  for (const int window : {7, 9}) {
    model.config.window = window;
    CHECK(largest_difference(probabilities(model, prompt), theirs) > 1e-3);
  }
}

TEST_CASE("families: what is used where it is mapped, and what is copied") {
  const TemporaryFolder folder;
  write_model_folder(folder.path().string(), "qwen3", family_model("qwen3"));
  CHECK(load_checkpoint(folder.path().string()).copies.empty());
  write_model_folder(folder.path().string(), "gpt2", family_model("gpt2"));
  const Checkpoint gpt2 = load_checkpoint(folder.path().string());
  CHECK(gpt2.copies.size() == 12);  // the six matrices of each of two layers
  CHECK(reasons(gpt2)[0] == "blk.0.attn_q.weight: transposed: the file has it as [in, out]");
  CHECK(gpt2.copies[0].bytes == 64 * 64 * 4);
}

TEST_CASE("families: a window of all layers is used, one of some layers bounds the context") {
  const TemporaryFolder folder;
  const auto check = [&](const char* family, const char* extra, int window, int context) {
    CAPTURE(std::string(extra));
    write_model_folder(folder.path().string(), family, family_model(family), extra);
    const ModelConfig config = load_checkpoint(folder.path().string()).config;
    CHECK(config.window == window);
    CHECK(config.context_length == context);
  };
  check("mistral", ",\"sliding_window\":null", 0, 128);
  check("mistral", ",\"sliding_window\":100", 100, 128);
  check("mistral", ",\"sliding_window\":4096", 0, 128);
  const std::string types = ",\"sliding_window\":100,\"use_sliding_window\":true,\"layer_types\":";
  check("mistral", (types + R"(["full_attention", "full_attention"])").c_str(), 0, 128);
  check("mistral", (types + R"(["full_attention", "sliding_attention"])").c_str(), 0, 100);
  check("qwen2", ",\"sliding_window\":100,\"use_sliding_window\":false", 0, 128);
  check("qwen2", ",\"sliding_window\":100,\"use_sliding_window\":true", 0, 100);
  check("qwen2", (types + R"(["sliding_attention", "sliding_attention"])").c_str(), 100, 128);
  write_model_folder(folder.path().string(), "qwen3", family_model("qwen3"),
                     ",\"layer_types\":[\"full_attention\",\"linear_attention\"]");
  CHECK_ERROR(load_checkpoint(folder.path().string()), "layer_types/1", "found linear_attention");
}

TEST_CASE("families: Mistral's window is in its GGUF") {
  const TemporaryFolder folder;
  Checkpoint model = family_model("mistral");
  const std::vector<double> without = all_logits(model);
  model.config.window = 4;
  write_gguf(folder / "m.gguf", model);
  const std::vector<double> expected = all_logits(model);
  CHECK(largest_difference(all_logits(load_checkpoint(folder / "m.gguf")), expected) < 1e-9);
  CHECK(largest_difference(without, expected) > 1e-3);
}

TEST_CASE("families: rotary positions that are scaled, from folder and from GGUF") {
  const TemporaryFolder folder;
  const auto load = [&](const char* extra) {
    write_model_folder(folder.path().string(), "llama", family_model("llama"), extra);
    return load_checkpoint(folder.path().string());
  };
  CHECK(load(",\"rope_scaling\":{\"type\":\"linear\",\"factor\":4.0}").config.rope_scale == 4);
  CHECK(load(",\"rope_scaling\":{\"rope_type\":\"default\"}").config.rope_scale == 1);
  CHECK(load(",\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":77}").config.rope_base == 77);
  CHECK_ERROR(load(",\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":4.0}"), "rope_scaling", "not supported",
              "found dynamic");
  CHECK_ERROR(load(",\"rope_scaling\":{\"type\":\"linear\"}"), "rope_scaling/factor", "positive");

  const Checkpoint scaled = load(
      ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,"
      "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":256}");
  // Base 5000, 8 pairs: wavelengths of 6.3, 18.2, 52.9, 153.3, 444.3 and more; 64 and below stay, 256 and above are
  // divided by 8, and 153.3 lies between: (256 / 153.3 - 1) / 3 = 0.2234, 1 / (0.2234 + 0.7766 / 8) = 3.121.
  REQUIRE(scaled.rope_factors.size() == 8);
  CHECK(scaled.rope_factors[0] == 1);
  CHECK(scaled.rope_factors[2] == 1);
  CHECK(scaled.rope_factors[3] == doctest::Approx(3.121).epsilon(1e-3));
  CHECK(scaled.rope_factors[4] == 8);
  CHECK(scaled.rope_factors[7] == 8);
  write_gguf(folder / "m.gguf", scaled);
  const std::vector<double> expected = all_logits(scaled);
  CHECK(largest_difference(all_logits(load_checkpoint(folder / "m.gguf")), expected) < 1e-5);  // factors are F32 there
  CHECK(largest_difference(all_logits(load("")), expected) > 1e-3);
}

TEST_CASE("families: YaRN, what is left out, and what is refused") {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& more) {
    write_model_folder(folder.path().string(), "llama", family_model("llama"),
                       ",\"rope_scaling\":{\"rope_type\":\"yarn\"" + more + "}");
    return load_checkpoint(folder.path().string());
  };
  const Checkpoint usual = load(",\"factor\":4.0,\"original_max_position_embeddings\":64");
  CHECK(usual.config.context_length == 256);
  CHECK(usual.config.yarn.magnitude == doctest::Approx(1.138629));  // 1 + 0.1 * ln 4
  // Base 5000, 8 pairs, 64 positions: 32 turns are made before pair 0, 1 turn at pair 2.18 and so by pair 3, from where
  // on all is divided by 4; pairs 1 and 2 lie at a third and at two thirds: 1 / (1/3/4 + 2/3), 1 / (2/3/4 + 1/3).
  REQUIRE(usual.rope_factors.size() == 8);
  CHECK(usual.rope_factors[0] == 1);
  CHECK(usual.rope_factors[1] == doctest::Approx(4.0 / 3));
  CHECK(usual.rope_factors[2] == doctest::Approx(2));
  CHECK(usual.rope_factors[3] == doctest::Approx(4));
  CHECK(usual.rope_factors[7] == doctest::Approx(4));
  CHECK(load(",\"factor\":4.0").config.yarn.original_context == 128);
  CHECK_ERROR(load(""), "rope_scaling/factor", "positive");
  CHECK_ERROR(load(",\"factor\":1e300,\"original_max_position_embeddings\":2000000000"), "context");
  CHECK_ERROR(load(",\"factor\":4.0,\"original_max_position_embeddings\":0"), "original context of YaRN");
  CHECK_ERROR(load(",\"factor\":4.0,\"beta_fast\":-1"), "YaRN's scaling");
  CHECK_ERROR(load(",\"factor\":4.0,\"mscale\":0.7"), "rope_scaling/mscale", "this variant of YaRN");
}
