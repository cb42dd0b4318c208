// Traces of one model in two files, and bug or rounding.
#include "inspect/trace_diff.h"

#include <doctest/doctest.h>

#include "files/gguf_writer.h"
#include "inspect/hints.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/families.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const std::vector<TokenId> kIds = {72, 101, 259, 4, 199, 31, 8, 260, 77};

Trace run(Checkpoint checkpoint, Kernels& kernels, const TraceRequest& request = {},
          const std::vector<TokenId>& ids = kIds) {
  const DType type = kernels.activation_type();
  Transformer model(std::make_shared<const Checkpoint>(std::move(checkpoint)), {0, type, type});
  return record_trace(model, ids, kernels, request);
}

}  // namespace

TEST_CASE("trace-diff: GGUF and folder of one model agree, though their q and k stand in other orders") {
  ReferenceKernels<double> kernels{Threads(1)};
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3", "gemma3", "gpt2", "qwen3-yarn"}) {
    CAPTURE(family);
    const TemporaryFolder folder;
    const Checkpoint model = family_model(family);
    write_gguf(folder / "m.gguf", model);
    write_model_folder(folder.path().string(), family, model);
    const Trace from_gguf = run(load_checkpoint(folder / "m.gguf"), kernels);
    Trace from_folder = run(load_checkpoint(folder.path().string()), kernels);
    const TraceDiff diff = compare_traces(from_gguf, from_folder, {1e-6});  // GGUF's epsilon is an F32
    CHECK(diff.first_mismatch() == nullptr);
    CHECK(diff.tensors.size() == from_gguf.tensors.size());
    CHECK(diff.only_in_a.empty());
    CHECK(diff.only_in_b.empty());
    // The layouts do differ where llama.cpp wants them to: without the header's word q is another one.
    if (from_gguf.header.rope_layout == from_folder.header.rope_layout) continue;
    CHECK(std::string(family).find("qwen") == std::string::npos);
    from_folder.header.rope_layout = RopeLayout::interleaved;
    CHECK(compare_traces(from_gguf, from_folder).first_mismatch()->name == "blk.0.attn.q");
  }
}

TEST_CASE("trace-diff: rounding is told from a bug that is smaller than any tolerance") {
  const Checkpoint model = *random_model(small_config(0), DType::F32);
  ReferenceKernels<float> single{Threads(1)};
  ReferenceKernels<double> twofold{Threads(1)};
  FastKernels fast{Threads(1)};
  const Trace in_single = run(model, single), in_double = run(model, twofold), in_fast = run(model, fast);
  const DiffSettings settings{1e-4, &in_single, &in_double};
  const TraceDiff rounding = compare_traces(in_fast, in_single, settings);
  CHECK(rounding.first_mismatch() == nullptr);
  for (const TensorVerdict& verdict : rounding.tensors) {
    CAPTURE(verdict.name);
    REQUIRE(verdict.noise);
    CHECK(verdict.noise->b == verdict.noise->expected);
    CHECK((verdict.name == "embed") == (verdict.noise->expected == 0));
  }
  // An epsilon of 1.02e-5 instead of 1e-5: some parts in a million.
  Checkpoint wrong = model;
  wrong.config.norm_epsilon = 1.02e-5;
  const Trace broken = run(wrong, single);
  CHECK(compare_traces(in_fast, broken).first_mismatch() == nullptr);
  const TraceDiff bug = compare_traces(in_fast, broken, settings);
  REQUIRE(bug.first_mismatch() != nullptr);
  CHECK(bug.first_mismatch()->name == "blk.0.attn_norm");
  CHECK_FALSE(bug.first_mismatch()->noise->is_bug_in_a());
  CHECK(bug.first_mismatch()->noise->is_bug_in_b());
  CHECK(find_hints(in_fast, broken, bug)[0].symptom == Symptom::epsilon);
  // The embedding is copied: nothing may differ there, not by the last bit.
  Trace copied = run(model, single);
  auto bytes = std::make_shared<std::vector<std::byte>>(copied.tensors[0].bytes.begin(), copied.tensors[0].bytes.end());
  (*bytes)[0] ^= std::byte{1};
  copied.tensors[0].bytes = *bytes;
  CHECK(compare_traces(copied, in_single, settings).first_mismatch()->name == "embed");
}

TEST_CASE("trace-diff: only common positions and names are compared") {
  const Checkpoint model = *random_model(small_config(0), DType::F32);
  ReferenceKernels<float> kernels{Threads(1)};
  TraceRequest some, others;
  some.positions = {1, 4, 7};
  some.wants = [](std::string_view name) { return name != "embed"; };
  others.positions = {0, 4, 7, 8};
  others.wants = [](std::string_view name) { return name != "logits"; };
  const TraceDiff diff = compare_traces(run(model, kernels, some), run(model, kernels, others), {0});
  CHECK(diff.first_mismatch() == nullptr);
  CHECK(diff.only_in_a == std::vector<std::string>{"logits"});
  CHECK(diff.only_in_b == std::vector<std::string>{"embed"});
  CHECK(diff.find("blk.0.attn.scores")->shape_a == std::vector<int64_t>{4, 2, 9});
  CHECK(diff.find("blk.1.resid")->positions == std::vector<int>{4, 7});
  // Another prompt from position 5 on: rows before it agree, so what differs stands after it.
  std::vector<TokenId> ids = kIds;
  ids[5] = 0;
  const TraceDiff later = compare_traces(run(model, kernels), run(model, kernels, {}, ids), {0});
  CHECK(later.first_mismatch()->name == "embed");
  CHECK(later.first_mismatch()->comparison.worst / 32 == 5);
  // A longer prompt has more keys.
  ids = kIds;
  ids.push_back(1);
  const TraceDiff longer = compare_traces(run(model, kernels), run(model, kernels, {}, ids), {1e-5});
  CHECK(longer.first_mismatch()->name == "blk.0.attn.scores");
  CHECK_FALSE(longer.first_mismatch()->comparison.same_shape);
  CHECK(longer.find("logits")->agrees);
}
