#include "inspect/stopper.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "inspect/tensor_report.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Listener : Observer {
  std::vector<std::string> heard;
  bool wants(const Probe&) const override { return true; }
  void on_tensor(const Probe& probe, Tensor&) override { heard.emplace_back(probe.name); }
};

Stopper stopper_of(std::unique_ptr<StopCondition> condition) {
  std::vector<std::unique_ptr<StopCondition>> conditions;
  conditions.push_back(std::move(condition));
  return Stopper(std::move(conditions), [](const std::string&) { FAIL("nobody debugs a test"); });
}

struct Outcome {
  std::string report;  // "" where the pass came to its end
  std::vector<std::string> heard;
};

// Positions 0 to n - 1 in one call; who listens comes behind the stopper, and hears nothing of where it stopped.
Outcome outcome_of(LanguageModel& model, Stopper& stopper, int n) {
  ReferenceKernels<float> kernels{Threads(1)};
  Listener listener;
  Observer* const observers[] = {&stopper, &listener};
  const auto ids = random_ids(n, model.config().vocab_size, 1);
  std::vector<Row> rows;
  for (int i = 0; i < n; ++i) rows.push_back({ids[static_cast<size_t>(i)], i, nullptr, i + 1 == n});
  Arena arena;
  Outcome outcome;
  try {
    model.forward(rows, kernels, arena, observers);
  } catch (const Stopped& stopped) {
    outcome.report = stopped.what();
  }
  outcome.heard = std::move(listener.heard);
  return outcome;
}

Tensor tensor_of(std::vector<float>& values, std::initializer_list<int64_t> shape, const char* name = "t") {
  return make_tensor(name, DType::F32, shape, reinterpret_cast<std::byte*>(values.data()));
}

}  // namespace

TEST_CASE("stopper: stops at the tensor, before anything else is computed") {
  Transformer model(random_model(small_config(0), DType::F32));
  Stopper stopper = stopper_of(stop_at(parse_selector("blk.1.attn.scores@2", ""), "blk.1.attn.scores@2"));
  const Outcome outcome = outcome_of(model, stopper, 4);
  CHECK(contains(outcome.report, "stopped at blk.1.attn.scores@2\n"));
  CHECK(contains(outcome.report, "blk.1.attn.scores  F32 [4, 4, 4], layer 1, positions 0 to 3\n"));
  CHECK(contains(outcome.report, "24 -infinity, the first at [0, 0, 1]"));  // 6 of 16 in each of 4 heads
  CHECK(contains(outcome.report, "position 2, head 0:"));
  CHECK(outcome.heard.back() == "blk.1.attn.k_rope");
  CHECK(stopper.unmet().empty());
}

TEST_CASE("stopper: a position that never comes does not stop, and is told") {
  Transformer model(random_model(small_config(0), DType::F32));
  Stopper stopper = stopper_of(stop_at(parse_selector("embed@4", ""), "embed@4"));
  const Outcome outcome = outcome_of(model, stopper, 4);
  CHECK(outcome.report.empty());
  CHECK(outcome.heard.back() == "logits");
  CHECK(stopper.unmet() == "embed@4 was never reached\n");
}

TEST_CASE("stopper: the first tensor with a NaN is the one that a broken weight makes") {
  ModelConfig config = small_config(1);
  config.window = 2;  // scores are -infinity on both sides
  auto checkpoint = std::make_shared<Checkpoint>(*random_model(config, DType::F32));
  {
    Transformer model(checkpoint);
    Stopper stopper = stopper_of(stop_on_non_finite());
    CHECK(outcome_of(model, stopper, 5).report.empty());
    CHECK(stopper.unmet().empty());
  }
  // Row 7 of the matrix: the seventh number of every position, of position 0 first.
  values<float>(checkpoint->weights.at("blk.1.ffn_up.weight"))[7 * config.d_model + 3] = NAN;
  Transformer model(checkpoint);
  Stopper stopper = stopper_of(stop_on_non_finite());
  const Outcome outcome = outcome_of(model, stopper, 5);
  CHECK(contains(outcome.report, "stopped at the first NaN\nblk.1.ffn.up  F32 [5, 64], layer 1"));
  CHECK(contains(outcome.report, "  5 NaN, the first at [0, 7]\n"));
  CHECK(outcome.heard.back() == "blk.1.ffn.gate");
}

TEST_CASE("stopper: infinity stops too, except that -infinity is what scores may be") {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto condition = stop_on_non_finite();
  std::vector<float> numbers = {1, 2, 3, -infinity};
  const Tensor tensor = tensor_of(numbers, {2, 2});
  const Row rows[] = {{0, 0}, {0, 1}};
  CHECK_FALSE(condition->reason({"blk.0.attn.scores", 0, rows}, tensor));
  const auto reason = condition->reason({"blk.0.attn.q", 0, rows}, tensor);
  REQUIRE(reason);
  CHECK(reason->text == "stopped at the first infinity");
  CHECK(reason->rows == std::vector<int64_t>{1});
  numbers[2] = infinity;
  CHECK(condition->reason({"blk.0.attn.scores", 0, rows}, tensor));
}

TEST_CASE("tensor report: the summary is of what is finite, the rows are those asked for") {
  std::vector<float> numbers = {1, -4, NAN, 2, INFINITY, -INFINITY, 5, 0, 8, 9, 9, 9};
  const Tensor tensor = tensor_of(numbers, {2, 3, 2}, "blk.0.attn.scores");
  const TensorSummary summary = summarize(tensor);
  CHECK(summary.n_nan == 1);
  CHECK(summary.n_infinite == 1);
  CHECK(summary.n_minus_infinite == 1);
  CHECK(summary.first_nan == 2);
  CHECK(summary.first_infinite == 4);
  CHECK(summary.smallest == -4);
  CHECK(summary.largest == 9);
  CHECK(summary.mean == doctest::Approx(39.0 / 9));
  CHECK(row_of(tensor, 2) == 1);
  CHECK(row_of(tensor, 11) == 2);
  const Row rows[] = {{0, 10}, {0, 11}, {0, 12}};
  const int64_t shown[] = {2};
  CHECK(tensor_report({"blk.0.attn.scores", 0, rows}, tensor, shown) ==
        "blk.0.attn.scores  F32 [2, 3, 2], layer 0, positions 10 to 12\n"
        "  smallest -4, largest 9, mean 4.3333\n"
        "  1 NaN, the first at [0, 1, 0]\n"
        "  2 infinite, the first at [0, 2, 0]\n"
        "  position 12, head 0: inf -inf\n");
}
