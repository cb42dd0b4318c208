#include "config/costs.h"

#include <cmath>

#include <doctest/doctest.h>

#include "config/arithmetic.h"
#include "support/expect_error.h"

using namespace orrery;

namespace {

struct Published {
  const char* name;
  double total;
  double tolerance;        // relative; 0: to the last parameter
  double active = 0;       // 0: all
  bool with_table = true;  // whether the maker counts the embedding table as active
};

// Exact ones are sums over the tensors of the published files (safetensors indices on huggingface.co) or what the
// authors' code prints; the others are the figures of the papers and model cards, to the digits that they give.
constexpr Published kPublished[] = {
    {"stories15M", 15191712, 0},
    {"SmolLM2-135M", 134515008, 0},
    {"SmolLM2-360M", 361821120, 0},
    {"SmolLM2-1.7B", 1711376384, 0},
    {"Qwen3-0.6B", 596049920, 0},
    {"Qwen3-1.7B", 1720574976, 0},
    {"Qwen3-4B", 4022468096, 0},
    {"Qwen3-8B", 8190735360, 0},
    {"Qwen3-14B", 14768307200, 0},
    {"Qwen3-32B", 32762123264, 0},
    {"Qwen3-30B-A3B", 30532122624, 0, 3.3e9},
    {"Qwen3-235B-A22B", 235093634560, 0, 22e9},
    {"Llama-3.2-1B", 1235814400, 0},
    {"Llama-2-7B", 6738415616, 0},
    {"Llama-2-13B", 13015864320, 0},
    {"Llama-2-70B", 68976648192, 0},
    {"Llama-3-8B", 8030261248, 0},
    {"Llama-3-70B", 70553706496, 0},
    {"Llama-3.1-405B", 405853388800, 0},
    {"GPT-2", 124439808, 0},
    {"GPT-2-XL", 1557611200, 0},
    {"GPT-3", 174600e6, 1e-3},
    {"OPT-13B", 12853473280, 0},
    {"BERT-base", 109482240, 0},
    {"BERT-large", 335141888, 0},
    {"PaLM-540B", 540.35e9, 1e-4},
    {"DeepSeek-V3", 671e9, 1e-3, 37e9},
    {"gpt-oss-20b", 20.91e9, 1e-3, 3.61e9, false},
    {"gpt-oss-120b", 116.83e9, 1e-3, 5.13e9, false},
};

}  // namespace

TEST_CASE("catalogue: every model has the parameters that its makers state") {
  for (const Published& published : kPublished) {
    CAPTURE(published.name);
    const ModelParameters counted = model_parameters(catalogued_model(published.name));
    CHECK(std::abs(counted.total - published.total) <= published.tolerance * published.total);
    const double active = counted.active - (published.with_table ? 0 : counted.embedding);
    const double expected = published.active > 0 ? published.active : counted.total;
    CHECK(active == doctest::Approx(expected).epsilon(0.02));
  }
  for (const CataloguedModel& model : model_catalogue()) {
    bool is_known = model.config.name == "storyteller";
    for (const Published& published : kPublished) is_known = is_known || model.config.name == published.name;
    CAPTURE(model.config.name);
    CHECK(is_known);
  }
}

TEST_CASE("catalogue: models that we can run count as the forward pass does, the others are refused in one line") {
  for (const CataloguedModel& model : model_catalogue()) {
    const std::string& name = model.config.name;
    CAPTURE(name);
    if (model.obstacle.empty()) {
      CHECK(model_parameters(model).total == static_cast<double>(parameter_count(runnable_shape(name)).total()));
      CHECK(kv_numbers_per_token(model) * 2 == kv_bytes_per_position(model.config, DType::F16, DType::F16));
    } else {
      CHECK_ERROR(runnable_shape(name), "cannot be run here", "orrery calc --model");
    }
  }
  CHECK_ERROR(runnable_shape("deepseek-v3"), "latent attention");
  CHECK_ERROR(catalogued_chip("A100"), "A100-80GB", "H100-SXM");
}

TEST_CASE("catalogue: peaks follow from the units and their clocks") {
  // Multiprocessors * matrix units * multiply-adds a cycle * 2 * cycles per second, as the whitepapers count.
  CHECK(peak_of(catalogued_chip("A100-80GB"), "bf16") == doctest::Approx(108 * 4 * 256 * 2 * 1.41e9).epsilon(0.005));
  CHECK(peak_of(catalogued_chip("H100-SXM"), "bf16") == doctest::Approx(132 * 4 * 512 * 2 * 1.83e9).epsilon(0.005));
  CHECK(peak_of(catalogued_chip("V100-32GB"), "fp16") == doctest::Approx(640 * 64 * 2 * 1.53e9).epsilon(0.005));
  CHECK(peak_of(catalogued_chip("RTX-3090"), "fp32") == doctest::Approx(10496 * 2 * 1.695e9).epsilon(0.005));
  CHECK(peak_of(catalogued_chip("RTX-4090"), "fp32") == doctest::Approx(16384 * 2 * 2.52e9).epsilon(0.005));
  CHECK(catalogued_chip("RTX-4090").bandwidth == 384 / 8 * 21e9);
  CHECK_ERROR(peak_of(catalogued_chip("A100-80GB"), "fp8"), "A100-80GB", "does not compute", "bf16");
  for (const Chip& chip : chip_catalogue()) {
    CAPTURE(chip.name);
    CHECK(chip.reference.size() > 5);
    if (chip.bf16 > 0) CHECK((chip.fp16 == chip.bf16 || chip.fp16 == 0));
    if (chip.fp8 > 0) CHECK(chip.fp8 / chip.fp16 == doctest::Approx(2).epsilon(0.01));
    if (chip.tf32 > 0) CHECK(chip.fp16 / chip.tf32 == doctest::Approx(2).epsilon(0.05));
  }
}

TEST_CASE("costs: worked examples of the papers") {
  // ZeRO, figure 1: 7.5 billion parameters on 64 cards.
  CHECK(zero_bytes_per_card(7.5e9, 0, 64) == doctest::Approx(120e9));
  CHECK(zero_bytes_per_card(7.5e9, 1, 64) == doctest::Approx(31.4e9).epsilon(0.002));
  CHECK(zero_bytes_per_card(7.5e9, 2, 64) == doctest::Approx(16.6e9).epsilon(0.003));
  CHECK(zero_bytes_per_card(7.5e9, 3, 64) == doctest::Approx(1.9e9).epsilon(0.02));
  // vLLM (Kwon et al., 2023, section 3): 800 KB a token of OPT-13B.
  CHECK(kv_numbers_per_token(catalogued_model("OPT-13B")) * 2 == 800 * 1024);
  // GPT-3, appendix D: 3.14e23 for 300 billion tokens.
  CHECK(training_flops_per_token(catalogued_model("GPT-3")) * 300e9 == doctest::Approx(3.14e23).epsilon(0.002));
  // Llama 3 405B (2024): 3.8e25 for 15.6 trillion tokens. PaLM (2022): 2.53e24 for 780 billion.
  CHECK(training_flops_per_token(catalogued_model("Llama-3.1-405B")) * 15.6e12 ==
        doctest::Approx(3.8e25).epsilon(0.005));
  const CataloguedModel& palm = catalogued_model("PaLM-540B");
  CHECK(training_flops_per_token(palm) * 780e9 == doctest::Approx(2.53e24).epsilon(0.002));
  // Attention adds 12 * layers * heads * head size * length (its appendix B).
  CHECK(training_flops_per_token_with_attention(palm, 2048) - training_flops_per_token(palm) ==
        doctest::Approx(12.0 * 118 * 48 * 256 * 2048));
  // DeepSeek-V2's point: a token takes 576 numbers a layer instead of 2 * 128 heads * 128.
  CHECK(kv_numbers_per_token(catalogued_model("DeepSeek-V3")) == 61 * 576);
  // 80 s/h of a 7B shape at 2048: 5 * 32 * 2048 / 4096.
  const CataloguedModel& seven = catalogued_model("Llama-2-7B");
  CHECK(activation_bytes(seven, 32, 2048, Recompute::none) == 32.0 * 2048 * 32 * 4096 * (34 + 80));
  CHECK(activation_bytes(seven, 32, 2048, Recompute::selective) == 32.0 * 2048 * 32 * 4096 * 34);
  CHECK(activation_bytes(seven, 32, 2048, Recompute::full) == 32.0 * 2048 * 32 * 4096 * 2);
  // Narayanan et al. (2021): GPT-3 on 1024 A100 at 140 TFLOP/s with recomputation (8 instead of 6): 34 days.
  CHECK(training_seconds(8 * 175e9 * 300e9, 1024, 140e12, 1) / 86400 == doctest::Approx(34).epsilon(0.01));
}

TEST_CASE("costs: what decoding reads") {
  const CataloguedModel& dense = catalogued_model("Llama-2-7B");
  const double table = 32000.0 * 4096;
  CHECK(weights_read(dense, 1) == 6738415616 - table);
  CHECK(weights_read(dense, 100) == weights_read(dense, 1));
  const CataloguedModel& mixture = catalogued_model("Qwen3-30B-A3B");
  const ModelParameters parameters = model_parameters(mixture);
  CHECK(weights_read(mixture, 1) == doctest::Approx(parameters.active - parameters.embedding));
  CHECK(weights_read(mixture, 1e6) == doctest::Approx(parameters.total - parameters.embedding));
  CHECK(weights_read(mixture, 2) < 2 * weights_read(mixture, 1));
  // Without a cache twice the batch is twice the tokens; a long one takes that back.
  const double one = decode_tokens_per_second(dense, 1, 0, 2, 2, 2e12);
  CHECK(one == doctest::Approx(2e12 / (2 * (6738415616 - table))));
  CHECK(decode_tokens_per_second(dense, 2, 0, 2, 2, 2e12) == doctest::Approx(2 * one));
  CHECK(decode_tokens_per_second(dense, 1, 1e6, 2, 2, 2e12) < one / 10);
  CHECK(bytes_per_number("q8_0") == 34.0 / 32);
  CHECK_ERROR(bytes_per_number("f17"), "mxfp4");
}
