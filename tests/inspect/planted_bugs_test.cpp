#include "inspect/planted_bugs.h"

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "inspect/first_difference.h"
#include "inspect/hints.h"
#include "inspect/recorder.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr int kTokens = 8;
constexpr TokenId kBos = 1;

std::vector<TokenId> prompt() {
  std::vector<TokenId> ids = random_ids(kTokens, 300, 4);
  ids[0] = kBos;
  return ids;
}

// A tensor under these kernels; scores and weights are made only where `is_visible`.
std::vector<double> tensor_of(LanguageModel& model, Kernels& kernels, const std::string& name, bool is_visible = true) {
  Recorder recorder([&](std::string_view one) { return one == name || (is_visible && one.ends_with("attn.scores")); });
  Observer* const observers[] = {&recorder};
  std::vector<Row> rows;
  for (const TokenId id : prompt()) rows.push_back({id, static_cast<int>(rows.size())});
  Arena arena;
  model.forward(rows, kernels, arena, observers);
  return numbers(recorder[name]);
}

std::vector<double> planted_tensor(LanguageModel& model, PlantedBug bug, const std::string& name,
                                   bool is_visible = true) {
  ReferenceKernels<float> sound{Threads(1)};
  PlantedKernels kernels(bug, sound);
  return tensor_of(model, kernels, name, is_visible);
}

std::vector<double> sound_tensor(LanguageModel& model, const std::string& name) {
  ReferenceKernels<float> sound{Threads(1)};
  return tensor_of(model, sound, name);
}

struct KnownSymptom {
  PlantedBug bug;
  Symptom symptom;
};
const KnownSymptom kSymptoms[] = {{PlantedBug::rope_layout, Symptom::rope_layout},
                                  {PlantedBug::missing_scale, Symptom::missing_scale},
                                  {PlantedBug::epsilon, Symptom::epsilon},
                                  {PlantedBug::missing_bos, Symptom::missing_bos},
                                  {PlantedBug::missing_mask, Symptom::mask},
                                  {PlantedBug::head_mapping, Symptom::head_mapping},
                                  {PlantedBug::stale_cache, Symptom::cache_not_reset},
                                  {PlantedBug::transposed, Symptom::transposed_matrix}};

// The tensor at which a run with the bug stops, and why.
std::string first_difference(const std::shared_ptr<const Checkpoint>& checkpoint, PlantedBug bug,
                             const std::string& reference) {
  Transformer model(checkpoint);
  ReferenceKernels<float> sound{Threads(1)};
  PlantedKernels kernels(bug, sound);
  const auto tensors = announced_tensors(model, sound);
  std::vector<std::unique_ptr<StopCondition>> conditions;
  conditions.push_back(stop_on_first_difference(reference, trace_header(model.config(), sound), tensors, checkpoint));
  Stopper stopper(std::move(conditions), [](const std::string&) {});
  Observer* const observers[] = {&stopper};
  const auto ids = planted_prompt(bug, prompt(), kBos);
  const auto state = planted_sequence(bug, model, kernels);
  try {
    record_trace(model, *state, ids, kernels, {.observers = observers});
  } catch (const Stopped& stopped) {
    return stopped.what();
  }
  return "";
}

}  // namespace

TEST_CASE("planted bugs: each number is another bug, and shows at the tensor that it spoils first") {
  std::set<PlantedBug> bugs;
  for (int number = 1; number <= kPlantedBugs; ++number) bugs.insert(planted_bug(number));
  CHECK(bugs.size() == kPlantedBugs);
  CHECK_ERROR(planted_bug(0), "--plant", "1 to 8");
  CHECK_ERROR(planted_bug(9), "--plant");

  const auto checkpoint = random_model(small_config(0), DType::F32);
  Transformer model(checkpoint);
  ReferenceKernels<float> kernels{Threads(1)};
  const TemporaryFolder folder;
  const std::string reference = folder / "right.safetensors";
  write_trace(reference, record_trace(model, prompt(), kernels));
  const auto stops_at = [&](PlantedBug bug, const std::string& name, Symptom symptom) {
    check_planted_bug(bug, model.config());
    const std::string report = first_difference(checkpoint, bug, reference);
    CAPTURE(report);
    CHECK(contains(report, "stopped at the first difference"));
    CHECK(contains(report, "\n" + name + "  F32"));
    CHECK(contains(report, std::string("\n  hint: ") + symptom_name(symptom) + ": "));
  };
  stops_at(PlantedBug::rope_layout, "blk.0.attn.q_rope", Symptom::rope_layout);
  stops_at(PlantedBug::missing_scale, "blk.0.attn.scores", Symptom::missing_scale);
  stops_at(PlantedBug::epsilon, "blk.0.attn_norm", Symptom::epsilon);
  stops_at(PlantedBug::missing_bos, "embed", Symptom::missing_bos);
  stops_at(PlantedBug::missing_mask, "blk.0.attn.scores", Symptom::mask);
  stops_at(PlantedBug::head_mapping, "blk.0.attn.scores", Symptom::head_mapping);
  stops_at(PlantedBug::transposed, "blk.0.attn.out", Symptom::transposed_matrix);
  stops_at(PlantedBug::stale_cache, "blk.0.attn.q_rope", Symptom::cache_not_reset);

  // Whole traces, compared afterwards, lead to the same diagnosis.
  const Trace right = read_trace(reference);
  for (const auto& [bug, symptom] : kSymptoms) {
    PlantedKernels planted(bug, kernels);
    const auto state = planted_sequence(bug, model, planted);
    const Trace wrong = record_trace(model, *state, planted_prompt(bug, prompt(), kBos), planted);
    const auto hints = find_hints(wrong, right, compare_traces(wrong, right), checkpoint.get());
    CAPTURE(symptom_name(symptom));
    REQUIRE_FALSE(hints.empty());
    CHECK(hints.front().symptom == symptom);
  }
}

TEST_CASE("planted bugs: attention at once and in steps have the same one") {
  for (const auto& [bug, symptom] : kSymptoms) {
    Transformer model(random_model(small_config(0), DType::F32));
    const auto steps = planted_tensor(model, bug, "logits");
    const auto at_once = planted_tensor(model, bug, "logits", false);
    CHECK(largest_difference(steps, at_once) < 1e-4 * largest_magnitude(steps));
  }
}

TEST_CASE("planted bugs: what they are, computed another way") {
  ModelConfig config = small_config(0);
  const auto checkpoint = random_model(config, DType::F32);
  Transformer model(checkpoint);
  const auto is_close = [](const std::vector<double>& a, const std::vector<double>& b) {
    return largest_difference(a, b) <= 1e-5 * largest_magnitude(b);
  };

  SUBCASE("the layout of RoPE and epsilon: a config that says so") {
    auto other = std::make_shared<Checkpoint>(*checkpoint);
    other->config.rope_layout = RopeLayout::half_split;
    CHECK(planted_tensor(model, PlantedBug::rope_layout, "logits") == [&] {
      Transformer changed(other);
      return sound_tensor(changed, "logits");
    }());
    other->config.rope_layout = config.rope_layout;
    other->config.norm_epsilon = 1e-3;
    Transformer changed(other);
    CHECK(planted_tensor(model, PlantedBug::epsilon, "logits") == sound_tensor(changed, "logits"));
  }
  SUBCASE("the scale: scores are the root of head_dim times as large") {
    auto scores = sound_tensor(model, "blk.0.attn.scores");
    for (double& score : scores) score = std::isinf(score) ? 0 : score * std::sqrt(8.0);
    auto planted = planted_tensor(model, PlantedBug::missing_scale, "blk.0.attn.scores");
    for (double& score : planted) score = std::isinf(score) ? 0 : score;
    CHECK(is_close(planted, scores));
  }
  SUBCASE("the mask: every score is finite, those that were stay") {
    const auto scores = sound_tensor(model, "blk.0.attn.scores");
    const auto planted = planted_tensor(model, PlantedBug::missing_mask, "blk.0.attn.scores");
    for (size_t i = 0; i < scores.size(); ++i) {
      CHECK(std::isfinite(planted[i]));
      if (std::isfinite(scores[i])) CHECK(planted[i] == doctest::Approx(scores[i]));
    }
  }
  SUBCASE("the matrix: a checkpoint that has it transposed") {
    auto other = std::make_shared<Checkpoint>(*checkpoint);
    std::vector<std::vector<float>> matrices;  // a copy: the checkpoints share their memory
    for (const char* name : {"blk.0.attn_output.weight", "blk.1.attn_output.weight"}) {
      Tensor& matrix = other->weights.at(name);
      std::vector<float>& copy = matrices.emplace_back(32 * 32);
      for (size_t i = 0; i < copy.size(); ++i) copy[i] = values<float>(matrix)[i % 32 * 32 + i / 32];
      matrix.data = reinterpret_cast<std::byte*>(copy.data());
    }
    Transformer changed(other);
    CHECK(planted_tensor(model, PlantedBug::transposed, "logits") == sound_tensor(changed, "logits"));
  }
  SUBCASE("the heads: head 1 reads what head 2 should, which is a product of q and k by hand") {
    const auto q = sound_tensor(model, "blk.0.attn.q_rope"), k = sound_tensor(model, "blk.0.attn.k_rope");
    const auto scores = planted_tensor(model, PlantedBug::head_mapping, "blk.0.attn.scores");
    for (size_t head = 0; head < 4; ++head) {
      for (size_t row = 0; row < kTokens; ++row) {
        for (size_t key = 0; key <= row; ++key) {
          double dot = 0;
          for (size_t d = 0; d < 8; ++d) dot += q[row * 32 + head * 8 + d] * k[key * 16 + head % 2 * 8 + d];
          CHECK(scores[(head * kTokens + row) * kTokens + key] == doctest::Approx(dot / std::sqrt(8.0)).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("planted bugs: where one would not show, that is said") {
  const auto error = [](PlantedBug bug, int variant) {
    return error_of([&] { check_planted_bug(bug, small_config(variant)); });
  };
  CHECK(contains(error(PlantedBug::head_mapping, 1), "would change nothing"));  // one head of keys for all
  CHECK(contains(error(PlantedBug::head_mapping, 2), "would change nothing"));  // as many as queries
  CHECK(contains(error(PlantedBug::rope_layout, 5), "would change nothing"));   // learned positions
  CHECK(contains(error(PlantedBug::transposed, 3), "would change nothing"));    // not square
  CHECK(error(PlantedBug::epsilon, 5).empty());
  CHECK_ERROR(planted_prompt(PlantedBug::missing_bos, {2, 3}, kBos), "change nothing in this prompt");
  CHECK_ERROR(planted_prompt(PlantedBug::missing_bos, {kBos}, kBos), "change nothing in this prompt");
  CHECK(planted_prompt(PlantedBug::missing_bos, {kBos, 3}, kBos) == std::vector<TokenId>{3});
}
