#include "model/observer.h"

#include <map>
#include <set>

#include <doctest/doctest.h>

#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Recorder : Observer {
  std::set<std::string> wanted;  // empty: all
  std::map<std::string, std::vector<double>> seen;
  std::map<std::string, std::string> shapes;
  std::vector<std::string> order;

  bool wants(const Probe& probe) const override { return wanted.empty() || wanted.contains(std::string(probe.name)); }
  void on_tensor(const Probe& probe, Tensor& tensor) override {
    CHECK(probe.name == tensor.name);
    CHECK(probe.layer == (probe.name.starts_with("blk.") ? probe.name[4] - '0' : -1));
    order.emplace_back(probe.name);
    shapes[tensor.name] = shape_text(tensor);
    for (const double number : numbers(tensor)) seen[tensor.name].push_back(number);
  }
};

std::vector<double> observed_logits(LanguageModel& model, Kernels& kernels, std::span<const TokenId> ids,
                                    Observer& observer) {
  std::vector<Row> rows;
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({ids[i], static_cast<int>(i), nullptr, i + 1 == ids.size()});
  Arena arena;
  Observer* const observers[] = {&observer};
  return numbers(model.forward(rows, kernels, arena, observers));
}

}  // namespace

TEST_CASE("every box of the forward pass is announced once, in order, with its shape") {
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  Recorder recorder;
  const auto logits = observed_logits(model, kernels, random_ids(5, config.vocab_size, 1), recorder);
  const std::vector<std::string> block = {"attn_norm",   "attn.q",      "attn.k",       "attn.v",   "attn.q_rope",
                                          "attn.k_rope", "attn.scores", "attn.weights", "attn.mix", "attn.out",
                                          "resid_mid",   "ffn_norm",    "ffn.gate",     "ffn.up",   "ffn.act",
                                          "ffn.out",     "resid"};
  std::vector<std::string> expected = {"embed"};
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const std::string& name : block) expected.push_back(layer + name);
  }
  expected.insert(expected.end(), {"final_norm", "logits"});
  CHECK(recorder.order == expected);
  CHECK(recorder.shapes["blk.1.attn.k"] == "[5, 16]");
  CHECK(recorder.shapes["blk.1.attn.weights"] == "[4, 5, 5]");
  CHECK(recorder.shapes["logits"] == "[1, 300]");
  CHECK(recorder.seen["logits"] == logits);
}

TEST_CASE("attention that shows its weights agrees with attention that does not") {
  for (int variant = 0; variant < kVariants; ++variant) {
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32));
    FastKernels kernels{Threads(2)};
    const auto ids = random_ids(150, config.vocab_size, 2);
    Recorder quiet, curious;
    quiet.wanted = {"blk.1.attn.mix", "logits"};
    curious.wanted = {"blk.0.attn.scores", "blk.1.attn.weights", "blk.1.attn.mix", "logits"};
    observed_logits(model, kernels, ids, quiet);
    observed_logits(model, kernels, ids, curious);
    const auto& expected = quiet.seen["blk.1.attn.mix"];
    CHECK(largest_difference(curious.seen["blk.1.attn.mix"], expected) <= 1e-5 * largest_magnitude(expected));
    CHECK_FALSE(quiet.seen.contains("blk.1.attn.weights"));
    // Each row of the weights sums to one.
    const auto& weights = curious.seen["blk.1.attn.weights"];
    REQUIRE(weights.size() == 4 * 150 * 150);
    for (size_t row = 0; row < 4 * 150; ++row) {
      double sum = 0;
      for (size_t i = 0; i < 150; ++i) sum += weights[row * 150 + i];
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("what an observer changes, the pass goes on with") {
  struct Zero : Observer {
    bool wants(const Probe& probe) const override { return probe.name == "final_norm"; }
    void on_tensor(const Probe&, Tensor& tensor) override {
      std::fill_n(values<float>(tensor), n_elements(tensor), 0.0f);
    }
  } zero;
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(1)};
  const auto logits = observed_logits(model, kernels, random_ids(3, config.vocab_size, 3), zero);
  CHECK(largest_magnitude(logits) == 0);
}

TEST_CASE("scores of several sequences are announced one sequence at a time") {
  struct Counter : Observer {
    std::vector<size_t> rows;
    bool wants(const Probe& probe) const override { return probe.name == "blk.0.attn.scores"; }
    void on_tensor(const Probe& probe, Tensor& tensor) override {
      CHECK(tensor.shape[1] == static_cast<int64_t>(probe.rows.size()));
      rows.push_back(probe.rows.size());
    }
  } counter;
  const ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  FastKernels kernels{Threads(1)};
  const Row rows[] = {{1, 0}, {2, 1}, {3, 0}};
  Arena arena;
  Observer* const observers[] = {&counter};
  model.forward(rows, kernels, arena, observers);
  CHECK(counter.rows == std::vector<size_t>{2, 1});
}

TEST_CASE("scores are divided by the root of the query size, and grow by YaRN's magnitude squared") {
  ModelConfig config = small_config(0);
  const auto scores = [&] {
    Transformer model(random_model(config, DType::F32));
    FastKernels kernels{Threads(1)};
    Recorder recorder;
    recorder.wanted = {"blk.0.attn.scores"};
    observed_logits(model, kernels, random_ids(1, config.vocab_size, 3), recorder);
    return recorder.seen["blk.0.attn.scores"];
  };
  const auto usual = scores();
  config.query_size = 4.0 * config.head_dim;
  const auto halved = scores();
  config.query_size = 0;
  config.yarn.magnitude = 2;
  const auto grown = scores();
  REQUIRE(usual.size() == 4);
  for (size_t i = 0; i < usual.size(); ++i) {
    CHECK(halved[i] == doctest::Approx(usual[i] / 2));
    CHECK(grown[i] == doctest::Approx(usual[i] * 4));
  }
}
