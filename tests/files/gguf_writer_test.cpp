#include "files/gguf_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf_builder.h"
#include "files/random_checkpoint.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "tensor/convert.h"

using namespace orrery;
using namespace orrery::test;

namespace {

void check_same_config(const ModelConfig& a, const ModelConfig& b) {
  CHECK(a.name == b.name);
  CHECK(a.family == b.family);
  CHECK(a.n_layers == b.n_layers);
  CHECK(a.d_model == b.d_model);
  CHECK(a.n_heads == b.n_heads);
  CHECK(a.n_kv_heads == b.n_kv_heads);
  CHECK(a.head_dim == b.head_dim);
  CHECK(a.d_ff == b.d_ff);
  CHECK(a.vocab_size == b.vocab_size);
  CHECK(a.context_length == b.context_length);
  CHECK(static_cast<float>(a.norm_epsilon) == static_cast<float>(b.norm_epsilon));
  CHECK(a.rope_dims == b.rope_dims);
  CHECK(a.rope_base == b.rope_base);
  CHECK(a.rope_scale == b.rope_scale);
  CHECK(a.tied_head == b.tied_head);
  CHECK(a.attention_bias == b.attention_bias);
  CHECK(a.output_bias == b.output_bias);
  CHECK(a.ffn_bias == b.ffn_bias);
}

void check_same_vocabulary(const Vocabulary& a, const Vocabulary& b) {
  CHECK(a.model == b.model);
  CHECK(a.pieces == b.pieces);
  CHECK(a.scores == b.scores);
  CHECK(a.kinds == b.kinds);
  CHECK(a.bos == b.bos);
  CHECK(a.unknown == b.unknown);
  CHECK(a.end_tokens == b.end_tokens);
  CHECK(a.add_bos == b.add_bos);
  CHECK(a.add_eos == b.add_eos);
  CHECK(a.add_space_prefix == b.add_space_prefix);
}

void check_same_weights(const Checkpoint& a, const Checkpoint& b) {
  REQUIRE(a.weights.size() == b.weights.size());
  for (const auto& [name, weight] : a.weights) {
    const Tensor* other = b.find_weight(name);
    REQUIRE(other != nullptr);
    CHECK(other->dtype == weight.dtype);
    CHECK(same_shape(*other, weight));
    CHECK(std::memcmp(weight.data, other->data, n_bytes(weight)) == 0);
  }
}

ModelConfig llama_config() {
  ModelConfig config;
  config.family = "llama";
  config.name = "made here";
  config.n_layers = 3;
  config.d_model = 64;
  config.n_heads = 4;
  config.n_kv_heads = 2;
  config.head_dim = 32;
  config.d_ff = 96;
  config.vocab_size = 300;
  config.context_length = 128;
  config.norm_epsilon = 1e-6;
  config.rope_dims = 16;
  config.rope_base = 500000;
  config.rope_scale = 4;
  config.attention_bias = true;
  return config;
}

}  // namespace

TEST_CASE("gguf: a file that is read and written again is the same") {
  const TemporaryFolder folder;
  for (const char* name :
       {"valid_base", "valid_f16", "valid_q8_0", "valid_tied", "valid_head_dim16", "valid_odd_dims"}) {
    CAPTURE(name);
    const std::string path = data_file("tiny-models/gguf/" + std::string(name) + ".gguf");
    const Checkpoint first = load_checkpoint(path);
    write_gguf(folder / "again.gguf", first);
    const Checkpoint second = load_checkpoint(folder / "again.gguf");
    CHECK(second.metadata == first.metadata);
    check_same_config(first.config, second.config);
    check_same_vocabulary(first.vocabulary, second.vocabulary);
    check_same_weights(first, second);
    // These files happen to be laid out as ours are, so even the bytes agree.
    CHECK(file_bytes(folder / "again.gguf") == file_bytes(path));
  }
}

TEST_CASE("gguf: a model made here, with its metadata made from config and vocabulary") {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
    Checkpoint first = random_checkpoint(llama_config(), dtype, 1);
    first.vocabulary = random_vocabulary(300, 2);
    first.vocabulary.end_tokens = {2, 1};
    first.rope_factors = {1, 2, 4, 8, 1, 2, 4, 8};
    write_gguf(folder / "m.gguf", first);
    const Checkpoint second = load_checkpoint(folder / "m.gguf");
    check_same_config(first.config, second.config);
    check_same_vocabulary(first.vocabulary, second.vocabulary);
    CHECK(second.rope_factors == first.rope_factors);
    CHECK(second.weights.size() == first.weights.size() + 1);  // the factors
    CHECK(second.tensors.front().name == "rope_freqs.weight");
    CHECK(second.weight("blk.2.ffn_down.weight", {64, 96}).dtype == dtype);
    CHECK(std::memcmp(second.weight("blk.2.ffn_down.weight", {64, 96}).data,
                      first.weight("blk.2.ffn_down.weight", {64, 96}).data, bytes_of(dtype, 64 * 96)) == 0);
  }
}

TEST_CASE("gguf: weights in another type, norms as they are") {
  const TemporaryFolder folder;
  const Checkpoint first = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  for (const DType dtype : {DType::F16, DType::BF16, DType::Q8_0}) {
    const auto type_of = [&](const std::string& name, const Tensor& weight) {
      return name == "output.weight" ? weight.dtype : dtype;
    };
    write_gguf(folder / "m.gguf", first, {.type_of = type_of});
    const Checkpoint second = load_checkpoint(folder / "m.gguf");
    CHECK(second.weight("output.weight", {336, 32}).dtype == DType::F32);
    CHECK(second.weight("output_norm.weight", {32}).dtype == DType::F32);
    CHECK(second.copies.empty());
    const Tensor& weight = second.weight("blk.0.attn_q.weight", {32, 32});
    REQUIRE(weight.dtype == dtype);
    std::vector<std::byte> expected(bytes_of(dtype, 32 * 32));
    convert_row(DType::F32, first.weight("blk.0.attn_q.weight", {32, 32}).data, dtype, expected.data(), 32 * 32);
    CHECK(std::memcmp(weight.data, expected.data(), expected.size()) == 0);
    const auto file_type =
        std::ranges::find(second.metadata, "general.file_type", [](const auto& e) { return e.first; });
    REQUIRE(file_type != second.metadata.end());
    CHECK(file_type->second == (dtype == DType::F16 ? "1" : dtype == DType::Q8_0 ? "7" : "32"));
    // The file that Q8_0 came from gives the same values back in F32.
    write_gguf(folder / "f32.gguf", second, {.type_of = [](const std::string&, const Tensor&) { return DType::F32; }});
    CHECK(load_checkpoint(folder / "f32.gguf").weight("blk.0.attn_q.weight", {32, 32}).dtype == DType::F32);
  }
}

TEST_CASE("gguf: what cannot be written is refused, and leaves no file behind") {
  const TemporaryFolder folder;
  const std::string path = folder / "m.gguf";
  const auto q8 = [](const std::string&, const Tensor&) { return DType::Q8_0; };
  const Checkpoint odd = load_checkpoint(data_file("tiny-models/gguf/valid_odd_dims.gguf"));
  CHECK_ERROR(write_gguf(path, odd, {.type_of = q8}), "Q8_0", "token_embd.weight", "multiple of 32", "12");
  CHECK_ERROR(write_gguf(path, odd, {.type_of = [](const auto&, const auto&) { return DType::F64; }}), "F64");

  ModelConfig config = llama_config();
  config.n_layers = 1;
  const Checkpoint broken = random_checkpoint(config, DType::F32, 1);
  float* down = values<float>(broken.weight("blk.0.ffn_down.weight", {64, 96}));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e9f}) {
    down[96 * 5 + 7] = bad;
    CHECK_ERROR(write_gguf(path, broken, {.type_of = q8}), "blk.0.ffn_down.weight, row 5", "not finite, or too large");
  }
  config.qk_norm = true;
  CHECK_ERROR(write_gguf(path, random_checkpoint(config, DType::F32, 1)), "norms queries and keys", "llama");
  config.qk_norm = false;
  config.family = "gpt2";
  CHECK_ERROR(write_gguf(path, random_checkpoint(config, DType::F32, 1)), "gpt2");
  config.family = "llama";
  Checkpoint many = random_checkpoint(config, DType::F32, 1);
  many.vocabulary = random_vocabulary(300, 1);
  many.vocabulary.end_tokens = {2, 3, 4, 5};
  CHECK_ERROR(write_gguf(path, many), "end tokens", "at most 3");
  CHECK_ERROR(write_gguf(folder / "no/such/folder.gguf", random_checkpoint(config, DType::F32, 1)), "cannot create");
  CHECK(std::filesystem::is_empty(folder / ""));
}

TEST_CASE("gguf: a vocabulary alone, and a file with types that we lack") {
  const TemporaryFolder folder;
  GgufBuilder builder;
  builder.text("general.architecture", "phi3").text("tokenizer.ggml.model", "gpt2");
  builder.texts("tokenizer.ggml.tokens", {"a", "b"}).array("something", kUint8, 3, "abc");
  const std::string path = write_file(folder / "vocabulary.gguf", builder.bytes());
  write_gguf(folder / "again.gguf", load_checkpoint(path));
  CHECK(file_bytes(folder / "again.gguf") == file_bytes(path));

  builder = tiny_llama({"output_norm.weight"});
  builder.tensor_with_data("output_norm.weight", {32}, kQ4_0, std::string(18, '\0'));
  const std::string unsupported = write_file(folder / "q4.gguf", builder.bytes());
  CHECK_ERROR(write_gguf(folder / "no.gguf", load_checkpoint(unsupported, {.needs_weights = false})), "Q4_0");
}
