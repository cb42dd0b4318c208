#include "inspect/first_difference.h"

#include <doctest/doctest.h>

#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Setting {
  Transformer model{random_model(small_config(0), DType::F32)};
  FastKernels kernels{Threads(1)};
  TemporaryFolder folder;
  std::vector<TokenId> ids = random_ids(6, 300, 4);

  std::string record(const TraceRequest& request = {}) {
    const std::string path = folder / "reference.safetensors";
    write_trace(path, record_trace(model, ids, kernels, request));
    return path;
  }
  Stopper stopper_on(const std::string& reference) {
    std::vector<std::unique_ptr<StopCondition>> conditions;
    conditions.push_back(
        stop_on_first_difference(reference, trace_header(model.config(), kernels), announced_tensors(model, kernels)));
    return Stopper(std::move(conditions), [](const std::string&) {});
  }
  // The report; "" where nothing differed.
  static std::string run(Transformer& model, Kernels& kernels, Stopper& stopper, std::span<const TokenId> ids,
                         bool by_token) {
    const auto state = model.new_sequence();
    Observer* const observers[] = {&stopper};
    Arena arena;
    try {
      for (size_t i = 0; i < ids.size(); i += by_token ? 1 : ids.size()) {
        prefill(model, *state, ids.subspan(i, by_token ? 1 : ids.size()), kernels, arena, {}, observers);
      }
    } catch (const Stopped& stopped) {
      return stopped.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("first difference: there is none between kernels, nor between one call and one for each token") {
  Setting s;
  const std::string reference = s.record();
  ReferenceKernels<float> plain{Threads(1)};
  ReferenceKernels<double> exact{Threads(1)};
  for (const bool by_token : {false, true}) {
    for (Kernels* kernels : std::initializer_list<Kernels*>{&s.kernels, &plain, &exact}) {
      Stopper stopper = s.stopper_on(reference);
      CHECK(Setting::run(s.model, *kernels, stopper, s.ids, by_token) == "");
      const int n = by_token ? 6 * 37 : 37;
      CHECK(stopper.unmet() == "no difference from " + reference + ": " + std::to_string(n) + " tensors compared\n");
    }
  }
}

TEST_CASE("first difference: in the weights of one layer, at its first tensor and worst row") {
  Setting s;
  const std::string reference = s.record();
  auto changed = std::make_shared<Checkpoint>(*random_model(small_config(0), DType::F32));
  values<float>(changed->weights.at("blk.1.attn_v.weight"))[5 * 32] += 0.25f;
  Transformer other(changed);
  for (const bool by_token : {false, true}) {
    Stopper stopper = s.stopper_on(reference);
    const std::string report = Setting::run(other, s.kernels, stopper, s.ids, by_token);
    CAPTURE(report);
    CHECK(contains(report, "stopped at the first difference from " + reference));
    CHECK(contains(report, "\nblk.1.attn.v  F32"));
    CHECK(stopper.unmet().empty());
  }
}

TEST_CASE("first difference: only what the reference has is compared, at the positions that it has") {
  Setting s;
  const std::string reference =
      s.record({.wants = [](std::string_view name) { return name == "embed"; }, .positions = {2, 3}});
  std::vector<TokenId> other = s.ids;
  other[4] += 1;
  Stopper same = s.stopper_on(reference);
  CHECK(Setting::run(s.model, s.kernels, same, other, false) == "");
  CHECK(contains(same.unmet(), ": 1 tensors compared"));
  other[3] += 1;
  Stopper different = s.stopper_on(reference);
  CHECK(contains(Setting::run(s.model, s.kernels, different, other, false), "  position 3: "));
  Stopper nothing = s.stopper_on(reference);
  CHECK(Setting::run(s.model, s.kernels, nothing, std::span(s.ids).first(2), false) == "");
  CHECK(contains(nothing.unmet(), "nothing was compared"));
}

TEST_CASE("first difference: another shape is one; a file of other things is refused") {
  Setting s;
  const std::string narrow = write_file(s.folder / "narrow.safetensors",
                                        SafetensorsBuilder().floats("embed", {6, 2}, std::vector<float>(12)).bytes());
  Stopper stopper = s.stopper_on(narrow);
  CHECK(contains(Setting::run(s.model, s.kernels, stopper, s.ids, false), "shape is [6, 32] in place of [6, 2]"));
  const std::string weights =
      write_file(s.folder / "weights.safetensors", SafetensorsBuilder().floats("a.weight", {1, 2}, {1, 2}).bytes());
  CHECK_ERROR(s.stopper_on(weights), "announces none of the tensors", "found a.weight");
}
