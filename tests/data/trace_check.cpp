// Our trace of minGPT's sorter beside PyTorch's activations, by trace-diff.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "data/public_data.h"
#include "files/checkpoint.h"
#include "files/safetensors.h"
#include "inspect/trace.h"
#include "kernels/fast/fast_kernels.h"
#include "model/transformer.h"
#include "support/files.h"
#include "support/program.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr size_t kInputs = 3;
constexpr int kLength = 11;

// One input of a tensor whose outermost dimension counts inputs.
std::vector<float> of_input(const SafetensorsFile& file, const std::string& name, size_t input) {
  const auto found = std::ranges::find(file.tensors, name, &FileTensor::name);
  REQUIRE(found != file.tensors.end());
  std::vector<float> numbers(found->bytes / sizeof(float) / kInputs);
  std::memcpy(numbers.data(), file.file->bytes().data() + found->offset + input * numbers.size() * sizeof(float),
              numbers.size() * sizeof(float));
  return numbers;
}

// PyTorch's tensors of one input under the names that transformers would give them, heads outside as they are there.
std::string their_trace(const SafetensorsFile& file, size_t input) {
  SafetensorsBuilder builder;
  const std::tuple<const char*, const char*, std::vector<int64_t>> kNames[] = {
      {"x", "transformer.drop", {1, kLength, 48}},
      {"ln1", "transformer.h.0.ln_1", {1, kLength, 48}},
      {"q", "blk.0.attn.q", {1, 3, kLength, 16}},
      {"k", "blk.0.attn.k", {1, 3, kLength, 16}},
      {"v", "blk.0.attn.v", {1, 3, kLength, 16}},
      {"att", "transformer.h.0.attn.attn_scores", {1, 3, kLength, kLength}},
      {"attSm", "transformer.h.0.attn.attn_weights", {1, 3, kLength, kLength}},
      {"y", "transformer.h.0.attn.c_proj.input", {1, kLength, 48}},
      {"yProj", "transformer.h.0.attn.c_proj", {1, kLength, 48}},
      {"attnResid", "transformer.h.0.ln_2.input", {1, kLength, 48}},
      {"ln2", "transformer.h.0.ln_2", {1, kLength, 48}},
      {"fc", "transformer.h.0.mlp.c_fc", {1, kLength, 192}},
      {"gelu", "transformer.h.0.mlp.c_proj.input", {1, kLength, 192}},
      {"mlp", "transformer.h.0.mlp.c_proj", {1, kLength, 48}},
      {"block0", "transformer.h.0", {1, kLength, 48}},
  };
  for (const auto& [theirs, name, shape] : kNames) builder.floats(name, shape, of_input(file, theirs, input));
  return builder.bytes();
}

std::vector<TokenId> ids_of(const SafetensorsFile& file, size_t input) {
  const std::vector<float> numbers = of_input(file, "idx", input);
  return {numbers.begin(), numbers.end()};
}

Trace run(const Checkpoint& checkpoint, const std::vector<TokenId>& ids) {
  Transformer model(std::make_shared<const Checkpoint>(checkpoint));
  FastKernels kernels{Threads(1)};
  return record_trace(model, ids, kernels);
}

// The file lacks the biases of q, k and v, which the model had when the activations were taken. They are what lacks at
// the first position of the first input; all other positions and inputs then show whether that is right.
Checkpoint with_biases(Checkpoint checkpoint, const SafetensorsFile& file, const std::string& path) {
  write_file(path, their_trace(file, 0));
  Trace theirs = read_trace(path);
  const Trace ours = run(checkpoint, ids_of(file, 0));
  theirs.header = ours.header;
  checkpoint.config.attention_bias = true;
  for (int layer = 0; layer < checkpoint.config.n_layers; ++layer) {
    for (const char* kind : {"q", "k", "v"}) {
      const auto bias = std::make_shared<std::vector<float>>(static_cast<size_t>(checkpoint.config.d_model));
      const std::string probe = std::string("blk.0.attn.") + kind;
      const TensorValues a = trace_values(*ours.find(probe), ours.header);
      const TensorValues b = trace_values(*theirs.find(probe), theirs.header);
      for (size_t i = 0; layer == 0 && i < bias->size(); ++i) {
        (*bias)[i] = static_cast<float>(b.numbers[i] - a.numbers[i]);
      }
      const std::string name = "blk." + std::to_string(layer) + ".attn_" + kind + ".bias";
      checkpoint.weights[name] =
          make_tensor(name, DType::F32, {checkpoint.config.d_model}, reinterpret_cast<std::byte*>(bias->data()));
      checkpoint.owners.push_back(bias);
    }
  }
  return checkpoint;
}

}  // namespace

TEST_CASE("trace-diff: nano-gpt-sort agrees with PyTorch within 1e-5, and says what its file lacks") {
  const TemporaryFolder folder;
  const std::string ours = folder / "ours", theirs = folder / "theirs";
  const SafetensorsFile file = read_safetensors(data_path("nano-gpt-sort/expected_activations.safetensors"));
  const Checkpoint model = load_checkpoint(data_path("nano-gpt-sort"));
  const Checkpoint whole = with_biases(model, file, theirs);
  for (size_t input = 0; input < kInputs; ++input) {
    write_file(theirs, their_trace(file, input));
    write_trace(ours, run(whole, ids_of(file, input)));
    const auto same = run_program({"trace-diff", ours, theirs, "--tolerance", "1e-5"});
    CAPTURE(same.output);
    CHECK(same.status == 0);
    CHECK(same.output.find("15 of 15 tensors agree") != std::string::npos);

    write_trace(ours, run(model, ids_of(file, input)));
    const auto other = run_program({"trace-diff", ours, theirs});
    CHECK(other.status == 3);
    CHECK(other.output.find("first mismatch: blk.0.attn.q,") != std::string::npos);
    CHECK(other.output.find("hint: missing bias") != std::string::npos);
  }
}
