// Version 2 of llama2.c's format, against files made here from the F32 weights of version 1.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/parallel.h"
#include "files/gguf_builder.h"
#include "files/llama2c.h"
#include "kernels/reference/reference_kernels.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr size_t kHeaderBytes = 256;
constexpr size_t kGroupAt = 37;  // in the header: behind magic, version, seven sizes and a byte
const LoadOptions kNoTokenizer = {.needs_tokenizer = false};

// As export.py: the largest number of a group becomes 127.
std::string quantized(const std::vector<float>& weight, size_t group) {
  std::string numbers;
  std::string scales;
  for (size_t begin = 0; begin < weight.size(); begin += group) {
    float largest = 0;
    for (size_t i = begin; i < begin + group; ++i) largest = std::max(largest, std::fabs(weight[i]));
    const float scale = largest / 127;
    for (size_t i = begin; i < begin + group; ++i) {
      numbers += raw(static_cast<int8_t>(scale == 0 ? 0 : std::nearbyint(weight[i] / scale)));
    }
    scales += raw(scale);
  }
  return numbers + scales;
}

struct Int8Model {
  std::string f32;  // version 1
  std::string int8;
  std::vector<std::vector<float>> matrices;  // as in f32, in the order of the file
};

// The sizes of the matrices are spelled out here: embedding, q, k, v, output of all layers, gate, down, up, head.
Int8Model int8_model(const ModelConfig& c, size_t group, const TemporaryFolder& folder) {
  write_llama2c(folder / "f32.bin", *random_model(c, DType::F32), 1);
  Int8Model model = {.f32 = file_bytes(folder / "f32.bin")};
  const auto n_layers = static_cast<size_t>(c.n_layers);
  const auto d = static_cast<size_t>(c.d_model);
  const auto d_kv = d * static_cast<size_t>(c.n_kv_heads) / static_cast<size_t>(c.n_heads);
  const auto d_ff = static_cast<size_t>(c.d_ff);
  const auto vocabulary = static_cast<size_t>(c.vocab_size);
  std::vector<size_t> sizes = {vocabulary * d};
  for (const size_t rows : {d, d_kv, d_kv, d, d_ff, d_ff, d_ff}) sizes.insert(sizes.end(), n_layers, rows * d);
  if (!c.tied_head) sizes.push_back(vocabulary * d);

  const size_t norms_end = kHeaderBytes + (2 * n_layers + 1) * d * sizeof(float);
  model.int8 = model.f32.substr(0, norms_end);
  model.int8.replace(4, 4, raw<int32_t>(2));
  model.int8.replace(kGroupAt, 4, raw(static_cast<int32_t>(group)));
  size_t at = norms_end;
  for (const size_t size : sizes) {
    std::vector<float> matrix(size);
    REQUIRE(at + size * sizeof(float) <= model.f32.size());
    std::memcpy(matrix.data(), model.f32.data() + at, size * sizeof(float));
    at += size * sizeof(float);
    model.int8 += quantized(matrix, group);
    model.matrices.push_back(std::move(matrix));
  }
  REQUIRE(at == model.f32.size());
  return model;
}

std::vector<double> logits_of(const std::string& path) {
  Transformer model(std::make_shared<const Checkpoint>(load_checkpoint(path, kNoTokenizer)), {});
  ReferenceKernels<float> kernels(Threads(1));
  return uncached_logits(model, kernels, random_ids(7, 300, 3));
}

}  // namespace

TEST_CASE("llama2.c int8: each weight is at most half a step from what was quantised") {
  const TemporaryFolder folder;
  for (const int variant : {0, 1}) {            // head tied or not
    for (const size_t group : {32u, 8u, 1u}) {  // 1: only the largest number of each group, which is exact but for
      CAPTURE(group);                           // rounding
      const Int8Model made = int8_model(small_config(variant), group, folder);
      const Checkpoint f32 = load_checkpoint(folder / "f32.bin", kNoTokenizer);
      const Checkpoint int8 = load_checkpoint(write_file(folder / "m.bin", made.int8), kNoTokenizer);
      CHECK(int8.format == "llama2.c v2");
      CHECK(int8.config.tied_head == (variant == 0));
      CHECK(int8.config.context_length == f32.config.context_length);
      REQUIRE(int8.weights.size() == f32.weights.size());
      CHECK(int8.copies.size() == made.matrices.size());
      CHECK(int8.tensors.back().offset + int8.tensors.back().bytes == int8.file_bytes);
      for (const auto& [name, exact] : f32.weights) {
        const Tensor* weight = int8.find_weight(name);
        REQUIRE(weight != nullptr);
        REQUIRE(same_shape(*weight, exact));
        REQUIRE(weight->dtype == DType::F32);
        const auto* wanted = values<float>(exact);
        const auto* found = values<float>(*weight);
        const auto n = static_cast<size_t>(n_elements(exact));
        double worst = 0;  // in steps
        for (size_t begin = 0; begin < n; begin += group) {
          double largest = 0;
          for (size_t i = begin; i < begin + group; ++i) largest = std::max<double>(largest, std::fabs(wanted[i]));
          if (largest == 0) continue;
          for (size_t i = begin; i < begin + group; ++i) {
            worst = std::max(worst, std::fabs(double{wanted[i]} - found[i]) / (largest / 127));
          }
        }
        CAPTURE(name);
        CHECK(worst < (exact.n_dims == 1 ? 0 : group == 1 ? 1e-4 : 0.5 + 1e-4) + 1e-12);
      }
    }
  }
}

TEST_CASE("llama2.c int8: the logits are those of the widened weights, and near to the exact ones") {
  const TemporaryFolder folder;
  const Int8Model made = int8_model(small_config(1), 16, folder);
  const std::string path = write_file(folder / "m.bin", made.int8);
  write_llama2c(folder / "widened.bin", load_checkpoint(path, kNoTokenizer), 1);
  const std::vector<double> exact = logits_of(folder / "f32.bin");
  const std::vector<double> logits = logits_of(path);
  CHECK(logits == logits_of(folder / "widened.bin"));
  CHECK(logits != exact);
  // Some dozen sums of numbers that are each about half a percent off.
  CHECK(largest_difference(logits, exact) < 0.03 * largest_magnitude(exact));
}

TEST_CASE("llama2.c int8: show and tokenize widen nothing") {
  const TemporaryFolder folder;
  const Int8Model made = int8_model(small_config(0), 32, folder);
  const std::string path = write_file(folder / "m.bin", made.int8);
  const Checkpoint shown = load_checkpoint(path, {.needs_tokenizer = false, .needs_weights = false});
  CHECK(shown.find_weight("token_embd.weight") == nullptr);
  CHECK(shown.copies.size() == made.matrices.size());
  CHECK(shown.copies.front().bytes == 300 * 32 * 4);
  CHECK(shown.tensors.back().type == "I8");
  CHECK(shown.metadata.back() == std::pair<std::string, std::string>("group_size", "32"));
}

TEST_CASE("llama2.c int8: broken files") {
  const TemporaryFolder folder;
  const Int8Model made = int8_model(small_config(0), 32, folder);
  const auto load = [&](const std::string& bytes) {
    return load_checkpoint(write_file(folder / "m.bin", bytes), kNoTokenizer);
  };
  const auto with_group = [&](int32_t group) {
    std::string bytes = made.int8;
    return bytes.replace(kGroupAt, 4, raw(group));
  };
  CHECK(load(made.int8).weights.size() == 2 * 9 + 2);
  for (const int32_t group :
       {0, -1, -32, 64, 33, 3, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    const std::string found = "found " + std::to_string(group);
    CHECK_ERROR(load(with_group(group)), "group of int8", "byte 37", "divisor of the width 32", found.c_str());
  }
  // Another size of a group needs a file of another size.
  CHECK_ERROR(load(with_group(16)), "cut short");
  CHECK_ERROR(load(made.int8 + "x"), "longer than its header says");
  int loaded = 0;
  for (size_t size = 0; size < kHeaderBytes + 4; ++size) {
    loaded += error_of([&] { load(made.int8.substr(0, size)); }).empty();
  }
  CHECK(loaded == 0);
  // The last four bytes are a scale.
  for (const float scale : {-1.f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::string bytes = made.int8;
    bytes.replace(bytes.size() - 4, 4, raw(scale));
    CHECK_ERROR(load(bytes), "the scale of a group", "blk.1.ffn_up.weight", "export the model again");
  }
  // As large as the limits allow: refused before anything is taken for it.
  std::string huge = made.int8.substr(0, 8);
  for (const int32_t size : {1 << 20, 1 << 20, 1 << 14, 1, 1, 1 << 24, 1 << 27}) huge += raw(size);
  huge += raw<uint8_t>(0) + raw<int32_t>(1);
  huge.resize(1000);
  CHECK_ERROR(load(huge), "cut short");
}
