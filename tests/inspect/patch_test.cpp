#include "inspect/patch.h"

#include <cmath>

#include <doctest/doctest.h>

#include "inspect/recorder.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"
#include "support/npy.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr int kTokens = 6;

// Logits of all rows, in one call.
std::vector<double> logits_of(LanguageModel& model, std::vector<Observer*> observers) {
  ReferenceKernels<float> kernels{Threads(1)};
  const auto ids = random_ids(kTokens, model.config().vocab_size, 1);
  std::vector<Row> rows;
  for (int i = 0; i < kTokens; ++i) rows.push_back({ids[static_cast<size_t>(i)], i});
  Arena arena;
  return numbers(model.forward(rows, kernels, arena, observers));
}

std::vector<AnnouncedTensor> tensors_of(LanguageModel& model) {
  ReferenceKernels<float> kernels{Threads(1)};
  return announced_tensors(model, kernels);
}

// What becomes of a tensor, under a patch.
std::vector<double> patched(LanguageModel& model, const std::string& text, const std::string& name) {
  Patch patch(text, tensors_of(model), model.context_length());
  Recorder recorder({name});
  logits_of(model, {&patch, &recorder});
  CHECK(patch.was_used());
  return numbers(recorder[name]);
}

std::vector<double> unpatched(LanguageModel& model, const std::string& name) {
  Recorder recorder({name});
  logits_of(model, {&recorder});
  return numbers(recorder[name]);
}

// The same weights without one block.
std::shared_ptr<const Checkpoint> without_layer(const Checkpoint& whole, int left_out) {
  auto checkpoint = std::make_shared<Checkpoint>(whole);
  --checkpoint->config.n_layers;
  for (int layer = left_out; layer < checkpoint->config.n_layers; ++layer) {
    const std::string to = "blk." + std::to_string(layer) + ".", from = "blk." + std::to_string(layer + 1) + ".";
    for (auto& [name, tensor] : checkpoint->weights) {
      if (name.starts_with(to)) tensor = whole.weights.at(from + name.substr(to.size()));
    }
  }
  return checkpoint;
}

}  // namespace

TEST_CASE("patch: attention's output at zero is what a matrix of zeros gives") {
  for (const int variant : {0, 6}) {  // 6 norms the output before it is added
    const auto checkpoint = std::make_shared<Checkpoint>(*random_model(small_config(variant), DType::F32));
    Transformer whole(checkpoint);
    Patch patch("blk.1.attn.out=zero", tensors_of(whole), whole.context_length());
    const auto with_patch = logits_of(whole, {&patch});
    const auto before = logits_of(whole, {});
    const Tensor& matrix = checkpoint->weights.at("blk.1.attn_output.weight");
    std::fill_n(values<float>(matrix), n_elements(matrix), 0.0f);
    Transformer broken(checkpoint);
    CHECK(with_patch == logits_of(broken, {}));
    CHECK(with_patch != before);
  }
}

TEST_CASE("patch: only the rows selected change, to zero or to the mean over the call") {
  Transformer model(random_model(small_config(0), DType::F32));
  const std::string name = "blk.0.ffn.out";
  const size_t width = 32;
  const auto before = unpatched(model, name);
  const auto zeroed = patched(model, name + "@2-3=zero", name);
  const auto averaged = patched(model, name + "@last=mean", name);  // here all rows want logits
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t row = i / width;
    CHECK(zeroed[i] == (row == 2 || row == 3 ? 0 : before[i]));
    double mean = 0;
    for (size_t r = 0; r < kTokens; ++r) mean += before[r * width + i % width] / kTokens;
    CHECK(averaged[i] == doctest::Approx(mean).epsilon(1e-5));
  }
}

TEST_CASE("patch: scores at zero give equal weights to all that a row may see") {
  ModelConfig config = small_config(0);
  config.window = 3;
  Transformer model(random_model(config, DType::F32));
  const auto weights = patched(model, "blk.0.attn.scores=zero", "blk.0.attn.weights");
  REQUIRE(weights.size() == 4 * kTokens * kTokens);
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t row = i / kTokens % kTokens, key = i % kTokens;
    const bool sees = key <= row && key + 3 > row;
    CHECK(weights[i] == doctest::Approx(sees ? 1.0 / static_cast<double>(std::min<size_t>(3, row + 1)) : 0));
  }
}

TEST_CASE("patch: a file's row takes the place of each row, its rows those of their positions") {
  Transformer model(random_model(small_config(0), DType::F32));
  const TemporaryFolder folder;
  std::vector<double> four_rows;
  for (int i = 0; i < 4 * 32; ++i) four_rows.push_back(i * 0.25 - 7);
  const std::string one =
      write_file(folder / "one.npy", npy_file("<f8", "(32,)", {four_rows.begin(), four_rows.begin() + 32}));
  const std::string four = write_file(folder / "four.npy", npy_file("<f4", "(4, 32)", four_rows));
  const auto before = unpatched(model, "embed");
  const auto all_same = patched(model, "embed@1-9=" + one, "embed");
  const auto each_own = patched(model, "*bed@1-9=" + four, "embed");
  for (size_t i = 0; i < before.size(); ++i) {
    CHECK(all_same[i] == (i < 32 ? before[i] : four_rows[i % 32]));
    CHECK(each_own[i] == (i < 32 || i >= 4 * 32 ? before[i] : four_rows[i]));
  }
  // Past the end of the file nothing changes, and that can be told.
  Patch late("embed@5=" + four, tensors_of(model), 1024);
  CHECK(logits_of(model, {&late}) == logits_of(model, {}));
  CHECK_FALSE(late.was_used());
}

TEST_CASE("patch: what cannot be done is refused before anything is computed") {
  Transformer model(random_model(small_config(0), DType::F32));
  const auto tensors = tensors_of(model);
  const TemporaryFolder folder;
  const std::string file = write_file(folder / "x.npy", npy_file("<f4", "(2, 31)", std::vector<double>(62)));
  const std::string cube = write_file(folder / "y.npy", npy_file("<f4", "(1, 1, 32)", std::vector<double>(32)));
  const auto make = [&](const std::string& text) { return Patch(text, tensors, 1024); };
  for (const char* wrong : {"embed", "embed=", "=", ""}) CHECK_ERROR(make(wrong), "this is no patch", "NAME=zero");
  CHECK_ERROR(make("embd=zero"), "--patch embd=zero", "such as embed");
  CHECK_ERROR(make("embed@x=zero"), "these are no positions");
  CHECK_ERROR(make("blk.*.attn.*=mean"), "can only be set to zero", "blk.0.attn.scores");
  CHECK_ERROR(make("embed=" + file), "x.npy: the array does not fit the tensor embed", "[32] or [n, 32]", "[2, 31]");
  CHECK_ERROR(make("embed=" + cube), "found [1, 1, 32]");
  CHECK_ERROR(make("embed=" + (folder / "none.npy")), "none.npy", "cannot open");
}

TEST_CASE("skipped layers: the same as a model that never had them") {
  ModelConfig config = small_config(0);
  config.n_layers = 4;
  const auto checkpoint = random_model(config, DType::F32);
  Transformer whole(checkpoint);
  const auto before = logits_of(whole, {});
  for (const int layer : {0, 2, 3}) {
    Transformer shorter(without_layer(*checkpoint, layer));
    LayerSkipper skipper({layer}, tensors_of(whole));
    const auto skipped = logits_of(whole, {&skipper});
    CHECK(skipped == logits_of(shorter, {}));
    CHECK(skipped != before);
  }
  // Neighbours, in any order.
  Transformer shorter(without_layer(*without_layer(*checkpoint, 2), 1));
  LayerSkipper skipper({2, 1}, tensors_of(whole));
  CHECK(logits_of(whole, {&skipper}) == logits_of(shorter, {}));
  CHECK_ERROR(LayerSkipper({4}, tensors_of(whole)), "--skip-layer 4", "0 to 3");
  CHECK_ERROR(LayerSkipper({-1}, tensors_of(whole)), "no such layer");
}
