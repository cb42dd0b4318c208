#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf_builder.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "tensor/convert.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Fixture {
  TemporaryFolder folder;

  Checkpoint load(const GgufBuilder& builder, const LoadOptions& options = {}) {
    return load_checkpoint(write_file(folder / "m.gguf", builder.bytes()), options);
  }
};

GgufBuilder small_vocabulary(const std::vector<int32_t>& kinds = {2, 3, 3, 1}) {
  GgufBuilder builder;
  std::string encoded;
  for (const int32_t kind : kinds) encoded += raw(kind);
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a"});
  builder.array("tokenizer.ggml.scores", kFloat32, 4, raw(0.f) + raw(0.f) + raw(0.f) + raw(-1.5f));
  return builder.array("tokenizer.ggml.token_type", kInt32, kinds.size(), encoded);
}

}  // namespace

TEST_CASE("gguf: the tiny model's config, vocabulary and weights") {
  const Checkpoint checkpoint = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  CHECK(checkpoint.format == "GGUF v3");
  CHECK(checkpoint.file_bytes == 169568);
  CHECK(checkpoint.obstacle.empty());
  CHECK(checkpoint.copies.empty());

  const ModelConfig& config = checkpoint.config;
  CHECK(config.name == "tiny");
  CHECK(config.family == "llama");
  CHECK(config.n_layers == 2);
  CHECK(config.d_model == 32);
  CHECK(config.n_heads == 4);
  CHECK(config.n_kv_heads == 2);
  CHECK(config.head_dim == 8);
  CHECK(config.d_ff == 64);
  CHECK(config.vocab_size == 336);
  CHECK(config.context_length == 64);
  CHECK(config.norm == Norm::rms);
  CHECK(config.norm_epsilon == doctest::Approx(1e-5));
  CHECK(config.rope_layout == RopeLayout::interleaved);
  CHECK(config.rope_dims == 8);
  CHECK(config.rope_base == 10000);
  CHECK_FALSE(config.tied_head);
  CHECK_FALSE(config.attention_bias);

  const Vocabulary& vocabulary = checkpoint.vocabulary;
  REQUIRE(vocabulary.pieces.size() == 336);
  CHECK(vocabulary.model == "llama");
  CHECK(vocabulary.pieces[0] == "<unk>");
  CHECK(vocabulary.pieces[3] == "<0x00>");
  CHECK(vocabulary.pieces[333] == "\xE2\x96\x81hi");
  CHECK(vocabulary.storage == nullptr);  // views of the mapped file
  CHECK(vocabulary.scores[333] == -28);
  CHECK(vocabulary.kinds[1] == PieceKind::control);
  CHECK(vocabulary.kinds[3] == PieceKind::byte);
  CHECK(vocabulary.bos == 1);
  CHECK(vocabulary.unknown == 0);
  CHECK(vocabulary.end_tokens == std::vector<TokenId>{2});
  CHECK(vocabulary.add_bos);
  CHECK_FALSE(vocabulary.add_eos);

  CHECK(checkpoint.weights.size() == 21);
  const Tensor& k = checkpoint.weight("blk.0.attn_k.weight", {16, 32});
  CHECK(k.dtype == DType::F32);
  CHECK_ERROR(checkpoint.weight("blk.0.attn_k.weight", {32, 16}), "valid_base.gguf: tensor blk.0.attn_k.weight",
              "another shape", "[32, 16]", "[16, 32]");
  CHECK_ERROR(checkpoint.weight("blk.2.attn_k.weight", {16, 32}), "missing", "blk.2.attn_k.weight");
}

TEST_CASE("gguf: every value of the config comes from the file") {
  const auto config = [](const char* name) {
    return load_checkpoint(data_file("tiny-models/gguf/" + std::string(name))).config;
  };
  CHECK(config("valid_head_dim16.gguf").head_dim == 16);
  CHECK(config("valid_head_dim16.gguf").q_dim() == 64);
  CHECK(config("valid_head_dim16.gguf").n_kv_heads == 1);
  CHECK(config("valid_eps.gguf").norm_epsilon == doctest::Approx(0.03));
  CHECK(config("valid_theta50.gguf").rope_base == 50);
  CHECK(config("valid_tied.gguf").tied_head);
  CHECK(config("valid_odd_dims.gguf").d_ff == 20);
}

TEST_CASE("gguf: the same weights in F32, F16 and Q8_0") {
  const Checkpoint f32 = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  for (const auto& [name, dtype] :
       {std::pair{"valid_f16.gguf", DType::F16}, std::pair{"valid_q8_0.gguf", DType::Q8_0}}) {
    const Checkpoint other = load_checkpoint(data_file("tiny-models/gguf/" + std::string(name)));
    const Tensor& weight = other.weight("blk.1.ffn_up.weight", {64, 32});
    REQUIRE(weight.dtype == dtype);
    std::vector<float> values_there(64 * 32);
    convert_row(dtype, weight.data, DType::F32, reinterpret_cast<std::byte*>(values_there.data()), 64 * 32);
    const float* expected = values<float>(f32.weight("blk.1.ffn_up.weight", {64, 32}));
    CHECK(std::equal(values_there.begin(), values_there.end(), expected));
  }
}

TEST_CASE_FIXTURE(Fixture, "gguf: types that we lack are listed, and refused as weights") {
  GgufBuilder builder = tiny_llama({"blk.0.ffn_up.weight"});
  builder.tensor_with_data("blk.0.ffn_up.weight", {32, 2}, kQ4_0, std::string(36, '\0'));
  CHECK_ERROR(load(builder), "Q4_0", "tensor blk.0.ffn_up.weight", "F32, F16, BF16 or Q8_0");
  const Checkpoint listed = load(builder, {.needs_weights = false});
  CHECK(listed.tensors.back().type == "Q4_0");
  CHECK(listed.tensors.back().bytes == 36);
  CHECK(listed.tensors.back().shape == std::vector<int64_t>{2, 32});
  CHECK(contains(listed.obstacle, "Q4_0"));
  CHECK(listed.weights.empty());
  CHECK(listed.config.n_layers == 1);
  CHECK_ERROR(
      load(tiny_llama({"output_norm.weight"}).tensor_with_data("output_norm.weight", {2}, kF64, std::string(16, '\0'))),
      "F64", "not supported");
}

TEST_CASE_FIXTURE(Fixture, "gguf: what cannot be used as it lies there is copied, and said so") {
  // Alignment 1: the data begins wherever the list of tensors ends. Names of four lengths make one of them fit.
  for (const char* name : {"a", "ab", "abc", "abcd"}) {
    GgufBuilder builder;
    builder.alignment = 1;
    builder.number("general.alignment", 1);
    builder.text("general.architecture", "llama");
    for (const char* key : {"context_length", "embedding_length", "block_count", "feed_forward_length"}) {
      builder.number(std::string("llama.") + key, 2);
    }
    builder.number("llama.attention.head_count", 1).real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    builder.number("llama.vocab_size", 3);
    builder.tensor_with_data(name, {2, 2}, kF32, raw(1.f) + raw(2.f) + raw(3.f) + raw(4.f));
    builder.tensor_with_data("narrow", {2}, kBF16, raw<uint16_t>(0x3F80) + raw<uint16_t>(0x4000));
    const Checkpoint checkpoint = load(builder);
    const FileTensor& tensor = checkpoint.tensors.front();
    CHECK(values<float>(checkpoint.weight(name, {2, 2}))[3] == 4);
    const bool is_misaligned = tensor.offset % 4 != 0;
    REQUIRE(checkpoint.copies.size() == (is_misaligned ? 2 : 1));
    if (is_misaligned) {
      CHECK(checkpoint.copies[0].name == name);
      CHECK(checkpoint.copies[0].reason == "misaligned in the file");
      CHECK(checkpoint.copies[0].bytes == 16);
    }
    const Tensor& narrow = checkpoint.weight("narrow", {2});
    CHECK(narrow.dtype == DType::F32);
    CHECK(values<float>(narrow)[1] == 2);
    CHECK(checkpoint.copies.back().name == "narrow");
    CHECK(contains(checkpoint.copies.back().reason, "widened to F32"));
  }
}

TEST_CASE_FIXTURE(Fixture, "gguf: tensors of a block that the family does not use are refused") {
  const auto with = [&](const char* name) {
    return tiny_llama().tensor_with_data(name, {2}, kF32, std::string(8, '\0'));
  };
  CHECK_ERROR(load(with("blk.0.attn_q_norm.weight")), "blk.0.attn_q_norm.weight", "does not use", "llama");
  CHECK_ERROR(load(with("blk.1.attn_norm.weight")), "blk.1.attn_norm.weight");
  CHECK_ERROR(load(with("blk.00.attn_norm.weight")), "blk.00.attn_norm.weight");
  CHECK_ERROR(load(with("blk.-1.attn_norm.weight")), "blk.-1.attn_norm.weight");
  CHECK_ERROR(load(with("blk.")), "does not use");
  CHECK(load(with("something.else")).weights.contains("something.else"));
}

TEST_CASE_FIXTURE(Fixture, "gguf: divisors of the rotary frequencies") {
  GgufBuilder builder = tiny_llama();
  builder.tensor_with_data("rope_freqs.weight", {1}, kF32, raw(8.f));
  CHECK(load(builder).rope_factors == std::vector<double>{8});
  builder = tiny_llama();
  builder.tensor_with_data("rope_freqs.weight", {2}, kF32, raw(8.f) + raw(8.f));
  CHECK_ERROR(load(builder), "rope_freqs.weight", "[1]", "[2]");
  builder = tiny_llama();
  builder.tensor_with_data("rope_freqs.weight", {1}, kF32, raw(0.f));
  CHECK_ERROR(load(builder), "rope_freqs.weight", "positive");
}

TEST_CASE_FIXTURE(Fixture, "gguf: a file with a vocabulary alone loads, whatever its family") {
  const Checkpoint checkpoint = load(small_vocabulary().text("general.architecture", "phi3"));
  CHECK(checkpoint.vocabulary.pieces.size() == 4);
  CHECK(checkpoint.config.n_layers == 0);
  CHECK(contains(checkpoint.obstacle, "phi3"));
  CHECK_ERROR(checkpoint.weight("token_embd.weight", {0, 0}), "no weights");
  CHECK(load(small_vocabulary()).vocabulary.end_tokens == std::vector<TokenId>{2});
}

TEST_CASE_FIXTURE(Fixture, "gguf: ids of special tokens") {
  GgufBuilder builder = small_vocabulary();
  builder.number("tokenizer.ggml.eos_token_id", 3).number("tokenizer.ggml.bos_token_id", 2);
  builder.number("tokenizer.ggml.eot_token_id", 2).number("tokenizer.ggml.eom_token_id", 3);
  builder.add("tokenizer.ggml.add_bos_token", kBool, raw<uint8_t>(0));
  builder.add("tokenizer.ggml.add_eos_token", kBool, raw<uint8_t>(1));
  builder.add("tokenizer.ggml.add_space_prefix", kBool, raw<uint8_t>(0));
  const Vocabulary vocabulary = load(builder).vocabulary;
  CHECK(vocabulary.end_tokens == std::vector<TokenId>{3, 2});
  CHECK(vocabulary.bos == 2);
  CHECK(vocabulary.unknown == 0);
  CHECK_FALSE(vocabulary.add_bos);
  CHECK(vocabulary.add_eos);
  CHECK_FALSE(vocabulary.add_space_prefix);
  CHECK_ERROR(load(small_vocabulary().number("tokenizer.ggml.eos_token_id", 4)), "tokenizer.ggml.eos_token_id",
              "not in the vocabulary", "0 to 3", "found 4");
  CHECK_ERROR(load(small_vocabulary().add("tokenizer.ggml.bos_token_id", kInt32, raw(-1))), "found -1");
  // Another kind of tokenizer is kept as it is, for make_tokenizer to refuse by name.
  const Vocabulary other =
      load(GgufBuilder().text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a"})).vocabulary;
  CHECK(other.model == "gpt2");
  CHECK(other.pieces.size() == 1);
  CHECK(other.scores.size() == 1);
  CHECK(other.kinds.size() == 1);
  CHECK_FALSE(other.add_bos);
}

TEST_CASE_FIXTURE(Fixture, "gguf: vocabularies that contradict themselves") {
  CHECK_ERROR(load(small_vocabulary({2, 3, 3})), "tokenizer.ggml.token_type", "one element for each token", "4", "3");
  CHECK_ERROR(load(small_vocabulary({2, 3, 3, 7})), "token 3", "1 to 6", "found 7");
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"a"});
  CHECK_ERROR(load(builder), "tokenizer.ggml.scores", "needs its scores");
  CHECK_ERROR(load(builder.array("tokenizer.ggml.scores", kInt32, 1, raw(0))), "wrong type", "array of float32",
              "array of int32");
  CHECK_ERROR(load(GgufBuilder().number("tokenizer.ggml.model", 1)), "wrong type", "string", "uint32");
  GgufBuilder model = tiny_llama();
  model.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a"});
  CHECK_ERROR(load(model), "do not belong together", "3 tokens", "found 1");
}
