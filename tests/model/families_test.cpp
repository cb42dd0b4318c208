// Each family as GGUF and as a folder: the same random numbers, read by two readers, and another engine's ids.
#include "support/families.h"

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

std::vector<double> all_logits(Checkpoint checkpoint) {
  Transformer model(std::make_shared<const Checkpoint>(std::move(checkpoint)));
  ReferenceKernels<double> kernels{Threads(1)};
  return uncached_logits(model, kernels, kPrompt);
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
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3", "gpt2"}) {
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
      CHECK(from_gguf.config.context_length == 128);
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

TEST_CASE("families: the greedy ids are those of another engine") {
  // tests/data/families.json: node-llama-cpp 3.22.1 (llama.cpp) on the files that write_gguf makes of family_model(),
  // F32, temperature 0, 64 tokens after a prompt of ids.
  std::ifstream file(data_file("families.json"));
  const auto expected = nlohmann::json::parse(file);
  REQUIRE(expected.size() == 4);
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

TEST_CASE("families: a window bounds the context") {
  const TemporaryFolder folder;
  const auto context = [&](const char* family, const char* extra) {
    write_model_folder(folder.path().string(), family, family_model(family), extra);
    return load_checkpoint(folder.path().string()).config.context_length;
  };
  CHECK(context("mistral", ",\"sliding_window\":null") == 128);
  CHECK(context("mistral", ",\"sliding_window\":100") == 100);
  CHECK(context("mistral", ",\"sliding_window\":4096") == 128);
  CHECK(context("qwen2", ",\"sliding_window\":100,\"use_sliding_window\":false") == 128);
  CHECK(context("qwen2", ",\"sliding_window\":100,\"use_sliding_window\":true") == 100);
  CHECK_ERROR(context("qwen3", ",\"layer_types\":[\"full_attention\",\"linear_attention\"]"), "layer_types/1",
              "found linear_attention");
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
  CHECK_ERROR(load(",\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4.0}"), "rope_scaling", "not supported", "yarn");
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
