// Real folders: minGPT's sorter with PyTorch's activations, a GPT-2 of Hugging Face's, Mistral's tokenizer.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "data/public_data.h"
#include "files/checkpoint.h"
#include "files/gguf_writer.h"
#include "files/safetensors.h"
#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<TokenId> greedy(LanguageModel& model, Kernels& kernels, const std::vector<TokenId>& prompt, int count) {
  SamplerSettings settings;
  settings.temperature = 0;
  Sampler sampler(settings, 0);
  Arena arena;
  return generate(model, prompt, sampler, kernels, arena, {.max_tokens = count}, [](TokenId) { return true; }).ids;
}

// Keeps all tensors of a pass, by name, after it has added to the rows of some what they lack.
struct Keeper : Observer {
  std::map<std::string, std::vector<double>> kept, added;
  bool wants(const Probe&) const override { return true; }
  void on_tensor(const Probe& probe, Tensor& tensor) override {
    const std::string name(probe.name);
    if (const auto bias = added.find(name); bias != added.end()) {
      for (int64_t i = 0; i < n_elements(tensor); ++i) {
        values<double>(tensor)[i] += bias->second[static_cast<size_t>(i) % bias->second.size()];
      }
    }
    kept[name] = numbers(tensor);
  }
};

constexpr int kLength = 11, kWidth = 48, kHeads = 3, kHeadDim = 16;

// PyTorch's tensors of one input.
struct Expected {
  SafetensorsFile file = read_safetensors(data_path("nano-gpt-sort/expected_activations.safetensors"));

  std::vector<double> of(const std::string& name, size_t input, size_t n_inputs = 3) const {
    const auto found = std::ranges::find(file.tensors, name, &FileTensor::name);
    REQUIRE(found != file.tensors.end());
    const size_t count = found->bytes / sizeof(float) / n_inputs;
    std::vector<float> floats(count);
    std::memcpy(floats.data(), file.file->bytes().data() + found->offset + input * count * sizeof(float),
                count * sizeof(float));
    return {floats.begin(), floats.end()};
  }
  // [heads, positions, head_dim] as [positions, heads * head_dim].
  std::vector<double> by_position(const std::string& name, size_t input) const {
    const std::vector<double> given = of(name, input);
    std::vector<double> result(given.size());
    for (size_t h = 0; h < kHeads; ++h) {
      for (size_t t = 0; t < kLength; ++t) {
        for (size_t d = 0; d < kHeadDim; ++d) {
          result[(t * kHeads + h) * kHeadDim + d] = given[(h * kLength + t) * kHeadDim + d];
        }
      }
    }
    return result;
  }
};

}  // namespace

TEST_CASE("nano-gpt-sort sorts all 729 inputs") {
  Transformer model(std::make_shared<const Checkpoint>(load_checkpoint(data_path("nano-gpt-sort"))));
  FastKernels kernels{Threads(1)};
  int n_right = 0;
  for (int input = 0; input < 729; ++input) {
    std::vector<TokenId> digits;
    for (int rest = input, i = 0; i < 6; ++i, rest /= 3) digits.push_back(rest % 3);
    const std::vector<TokenId> ids = greedy(model, kernels, digits, 6);
    std::ranges::sort(digits);
    n_right += ids == digits ? 1 : 0;
  }
  CHECK(n_right == 729);
}

namespace {

// The file lacks the biases of q, k and v, which the model had when the activations were taken. What is missing must be
// the same at every position; it is found in the first pass and added in the second.
std::map<std::string, std::vector<double>> missing_biases(const Keeper& pass, const Expected& expected, size_t input) {
  std::map<std::string, std::vector<double>> biases;
  for (const char* name : {"q", "k", "v"}) {
    const std::string ours = std::string("blk.0.attn.") + name;
    const std::vector<double> theirs = expected.by_position(name, input);
    const std::vector<double>& there = pass.kept.at(ours);
    REQUIRE(there.size() == theirs.size());
    std::vector<double> bias(kWidth);
    for (size_t i = 0; i < theirs.size(); ++i) {
      const double difference = theirs[i] - there[i];
      if (i < kWidth) bias[i] = difference;
      CHECK(difference == doctest::Approx(bias[i % kWidth]).epsilon(1e-3).scale(0.01));
    }
    biases[ours] = bias;
  }
  return biases;
}

}  // namespace

TEST_CASE("nano-gpt-sort has PyTorch's activations at every step of block 0") {
  Transformer model(std::make_shared<const Checkpoint>(load_checkpoint(data_path("nano-gpt-sort"))));
  ReferenceKernels<double> kernels{Threads(1)};
  const Expected expected;
  for (size_t input = 0; input < 3; ++input) {
    CAPTURE(input);
    std::vector<Row> rows;
    for (const double id : expected.of("idx", input)) {
      rows.push_back({static_cast<TokenId>(id), static_cast<int>(rows.size()), nullptr, true});
    }
    REQUIRE(rows.size() == kLength);
    Keeper keeper;
    Observer* const observers[] = {&keeper};
    Arena arena;
    model.forward(rows, kernels, arena, observers);
    keeper.added = missing_biases(keeper, expected, input);
    arena.reset();
    model.forward(rows, kernels, arena, observers);
    const auto check = [&](const char* ours, const std::vector<double>& theirs) {
      CAPTURE(std::string(ours));
      REQUIRE(keeper.kept.contains(ours));
      CHECK(largest_difference(keeper.kept.at(ours), theirs) < 2e-5);
    };
    const std::pair<const char*, const char*> same[] = {
        {"embed", "x"},
        {"blk.0.attn_norm", "ln1"},
        {"blk.0.attn.mix", "y"},
        {"blk.0.attn.out", "yProj"},
        {"blk.0.resid_mid", "attnResid"},
        {"blk.0.ffn_norm", "ln2"},
        {"blk.0.ffn.up", "fc"},
        {"blk.0.ffn.act", "gelu"},
        {"blk.0.ffn.out", "mlp"},
        {"blk.0.resid", "mlpResid"},
        {"blk.0.resid", "block0"},
    };
    for (const auto& [ours, theirs] : same) check(ours, expected.of(theirs, input));
    check("blk.0.attn.q", expected.by_position("q", input));
    check("blk.0.attn.k", expected.by_position("k", input));
    check("blk.0.attn.v", expected.by_position("v", input));
    check("blk.0.attn.weights", expected.of("attSm", input));
    std::vector<double> scores = expected.of("att", input);  // -inf where nobody may look
    std::vector<double>& ours = keeper.kept.at("blk.0.attn.scores");
    REQUIRE(ours.size() == scores.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      CHECK(std::isinf(scores[i]) == std::isinf(ours[i]));
      if (std::isinf(scores[i])) scores[i] = ours[i] = 0;
    }
    check("blk.0.attn.scores", scores);
  }
}

TEST_CASE("a GPT-2 of Hugging Face's loads, runs, and is the same as GGUF") {
  const auto checkpoint = std::make_shared<const Checkpoint>(load_checkpoint(data_path("tiny-random-gpt2")));
  CHECK(checkpoint->config.tied_head);
  CHECK(checkpoint->config.n_layers == 5);
  const TemporaryFolder folder;
  write_gguf(folder / "m.gguf", *checkpoint);
  const std::vector<TokenId> ids = random_ids(40, 1000, 1);
  ReferenceKernels<double> kernels{Threads(1)};
  Transformer model(checkpoint);
  Transformer other(std::make_shared<const Checkpoint>(load_checkpoint(folder / "m.gguf")));
  const std::vector<double> logits = uncached_logits(model, kernels, ids);
  CHECK(largest_magnitude(logits) > 0.01);
  CHECK(largest_difference(uncached_logits(other, kernels, ids), logits) < 1e-8);  // its epsilon is an F32
  CHECK(greedy(model, kernels, ids, 20).size() == 20);
}
