#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "support/expect_error.h"
#include "support/families.h"
#include "support/files.h"
#include "support/safetensors.h"
#include "tensor/convert.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// The smallest Llama: one layer of width 2, one head, three tokens.
struct Fixture {
  TemporaryFolder folder;
  std::string without;  // a tensor
  std::string type = "F32";

  std::string path() const { return folder.path().string(); }
  std::string write(const std::string& name, const std::string& text) { return write_file(folder / name, text); }

  static std::string zeros(const std::string& dtype, int64_t n) {
    return std::string(static_cast<size_t>(n * (dtype == "F64" ? 8 : dtype == "F32" ? 4 : 2)), '\0');
  }
  SafetensorsBuilder weights() const {
    SafetensorsBuilder builder;
    const auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
      if (name == without) return;
      int64_t n = 1;
      for (const int64_t extent : shape) n *= extent;
      builder.tensor(name, type, shape, zeros(type, n));
    };
    add("model.embed_tokens.weight", {3, 2});
    add("model.norm.weight", {2});
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
      add("model.layers.0." + std::string(norm) + ".weight", {2});
    }
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                             "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
      add("model.layers.0." + std::string(name) + ".weight", {2, 2});
    }
    return builder;
  }
  static ModelConfig config() {
    ModelConfig config;
    config.n_layers = config.n_heads = config.n_kv_heads = 1;
    config.d_model = config.head_dim = config.d_ff = 2;
    config.vocab_size = 3;
    config.context_length = 8;
    config.norm_epsilon = 1e-5;
    config.rope_base = 100;
    config.tied_head = true;
    return config;
  }
  void write_model(const std::string& extra = "") {
    write("config.json", folder_config("llama", config(), extra));
    write("model.safetensors", weights().bytes());
  }
  Checkpoint load(const LoadOptions& options = {}) { return load_checkpoint(path(), options); }
  Checkpoint load_with(const std::string& extra) {
    write_model(extra);
    return load();
  }
  // A config in which a value stands instead of the right one.
  Checkpoint load_instead(const std::string& right, const std::string& wrong) {
    write_model();
    std::string text = folder_config("llama", config());
    REQUIRE(text.find(right) != std::string::npos);
    write("config.json", text.replace(text.find(right), right.size(), wrong));
    return load();
  }
};

constexpr const char* kTokenizer = R"({
  "added_tokens": [{"id": 2, "content": "<s>", "special": true}], "normalizer": null, "post_processor": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "<s>": 2}, "merges": []}})";

}  // namespace

TEST_CASE_FIXTURE(Fixture, "folder: config, weights and what it calls itself") {
  write_model();
  const Checkpoint checkpoint = load();
  CHECK(checkpoint.format == "Hugging Face folder");
  CHECK(checkpoint.config.family == "llama");
  CHECK(checkpoint.config.name == folder.path().filename().string());
  CHECK(checkpoint.config.rope_layout == RopeLayout::half_split);
  CHECK(checkpoint.config.rope_base == 100);
  CHECK(checkpoint.weights.size() == 11);
  CHECK(checkpoint.tensors.front().name == "model.embed_tokens.weight");
  CHECK(checkpoint.copies.empty());
  CHECK(checkpoint.metadata.front() == std::pair<std::string, std::string>{"model_type", "llama"});
  CHECK(checkpoint.vocabulary.empty());
  CHECK(load_checkpoint(path() + "/").config.name == checkpoint.config.name);
}

TEST_CASE_FIXTURE(Fixture, "folder: weights of other types") {
  for (const char* other : {"F16", "BF16", "F64"}) {
    CAPTURE(std::string(other));
    type = other;
    write_model();
    const Checkpoint checkpoint = load();
    CHECK(checkpoint.weight("blk.0.attn_norm.weight", {2}).dtype == DType::F32);
    const DType matrices = type == "F64" ? DType::F32 : *dtype_from_name(type);
    CHECK(checkpoint.weight("blk.0.attn_q.weight", {2, 2}).dtype == matrices);
    CHECK(checkpoint.copies.size() == (type == "F64" ? 11 : 3));
  }
  CHECK(load().copies[0].reason == "narrowed from F64 to F32");
  type = "I16";
  CHECK_ERROR(load_with(""), "model.embed_tokens.weight", "type I16", "F32, F16, BF16 or F64");
}

TEST_CASE_FIXTURE(Fixture, "folder: what is missing or too much is named") {
  CHECK_ERROR(load(), "no config.json");
  write("config.json", folder_config("llama", config()));
  CHECK_ERROR(load(), "has no weights", "model.safetensors");
  write("pytorch_model.bin", "x");
  CHECK_ERROR(load(), "found pytorch_model.bin", "Hint: fetch the model as safetensors");
  without = "model.layers.0.mlp.up_proj.weight";
  CHECK_ERROR(load_with(""), "tensor model.layers.0.mlp.up_proj.weight", "missing", "[2, 2]");
  without.clear();
  write("model.safetensors", weights().floats("model.layers.1.mlp.up_proj.weight", {1}, {1}).bytes());
  CHECK_ERROR(load(), "model.layers.1.mlp.up_proj.weight", "does not use");
  write("model.safetensors", weights().floats("model.layers.0.self_attn.rotary_emb.inv_freq", {1}, {1}).bytes());
  CHECK(load().weights.size() == 11);
  CHECK_ERROR(load_instead("\"intermediate_size\":2", "\"intermediate_size\":3"), "mlp.gate_proj.weight", "[3, 2]",
              "[2, 2]");
  CHECK_ERROR(load_instead("\"num_hidden_layers\":1", "\"num_hidden_layers\":16000"), "16000 layers", "11 tensors");
}

TEST_CASE_FIXTURE(Fixture, "folder: values of config.json that make no sense, or ask for what we lack") {
  CHECK_ERROR(load_instead("\"llama\"", "\"mamba\""), "config.json", "mamba", "mistral", "gpt2");
  CHECK_ERROR(load_instead("\"hidden_size\":2", "\"hidden_size\":\"2\""), "hidden_size", "not an integer");
  CHECK_ERROR(load_instead("\"hidden_size\":2", "\"hidden_size\":-2"), "hidden_size", "makes no sense", "found -2");
  CHECK_ERROR(load_instead("\"hidden_size\":2", "\"hidden_size\":3000000000"), "hidden_size", "makes no sense");
  CHECK_ERROR(load_instead("\"hidden_size\":2,", ""), "hidden_size", "missing");
  CHECK_ERROR(load_instead("\"hidden_size\":2", "\"hidden_size\":2,\"hidden_size\":2"), "hidden_size", "there twice");
  CHECK_ERROR(load_instead("\"num_attention_heads\":1", "\"num_attention_heads\":0"), "num_attention_heads",
              "multiple");
  CHECK_ERROR(load_instead("\"rms_norm_eps\"", "\"other\""), "rms_norm_eps", "missing");
  CHECK_ERROR(load_instead("\"silu\"", "\"relu\""), "hidden_act", "found relu");
  CHECK_ERROR(load_with(",\"head_dim\":1000000000"), "config.json", "head size makes no sense");
  CHECK_ERROR(load_with(",\"partial_rotary_factor\":0.5"), "partial_rotary_factor", "not supported");
  CHECK_ERROR(load_with(",\"quantization_config\":{\"quant_method\":\"awq\"}"), "not supported", "found awq");
  CHECK_ERROR(load_with(",\"attention_bias\":true"), "self_attn.q_proj.bias", "missing");
  write("config.json", "[]");
  CHECK_ERROR(load(), "config.json", "not a JSON object");
  write("config.json", std::string(1000, '['));
  CHECK_ERROR(load(), "config.json", "nested too deep");
}

TEST_CASE_FIXTURE(Fixture, "folder: the tokenizer, and where BOS and end tokens come from") {
  write_model(",\"bos_token_id\":2,\"eos_token_id\":[1,2]");
  write("tokenizer.json", kTokenizer);
  CHECK(load().vocabulary.bos == 2);
  CHECK(load().vocabulary.end_tokens == std::vector<TokenId>{1, 2});
  CHECK_FALSE(load().vocabulary.add_bos);
  write("generation_config.json", R"({"eos_token_id": 0, "temperature": 0.6})");
  CHECK(load().vocabulary.end_tokens == std::vector<TokenId>{0});
  write("tokenizer_config.json",
        R"({"bos_token": {"content": "b"}, "eos_token": "<s>", "add_bos_token": true, "chat_template": "{{ x }}"})");
  const Checkpoint checkpoint = load();
  CHECK(checkpoint.vocabulary.bos == 1);
  CHECK(checkpoint.vocabulary.add_bos);
  CHECK(checkpoint.vocabulary.end_tokens == std::vector<TokenId>{2, 0});
  CHECK(checkpoint.chat_template == "{{ x }}");
  write("tokenizer_config.json", R"({"chat_template": [{"name": "tools", "template": "t"},
        {"name": "default", "template": "d"}]})");
  CHECK(load().chat_template == "d");

  write("tokenizer_config.json", R"({"eos_token": "</s>"})");
  CHECK_ERROR(load(), "tokenizer_config.json: eos_token", "not in the vocabulary", "found </s>");
  std::filesystem::remove(folder / "tokenizer_config.json");
  write("generation_config.json", R"({"eos_token_id": [0, 3]})");
  CHECK_ERROR(load(), "generation_config.json: eos_token_id/1", "0 to 2", "found 3");
}

TEST_CASE_FIXTURE(Fixture, "folder: more rows than tokens, and fewer") {
  write_model();
  write("tokenizer.json", R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
                              "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  const Vocabulary vocabulary = load().vocabulary;  // its pieces live without the checkpoint
  CHECK(vocabulary.pieces == std::vector<std::string_view>{"a", "[PAD1]", "[PAD2]"});
  CHECK(make_tokenizer(vocabulary, "test")->encode("a") == std::vector<TokenId>{0});
  write("tokenizer.json", R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
                              "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3}, "merges": []}})");
  CHECK_ERROR(load(), "do not belong together", "at most 3", "found 4");
}

TEST_CASE_FIXTURE(Fixture, "folder: a tokenizer that we cannot read, or a vocabulary alone") {
  write_model();
  write("tokenizer.model", "x");
  CHECK_ERROR(load(), "only tokenizer.model", "Hint: fetch the tokenizer.json");
  CHECK(load({.needs_tokenizer = false}).weights.size() == 11);
  std::filesystem::remove(folder / "config.json");
  write("tokenizer.json", kTokenizer);
  CHECK_ERROR(load(), "no config.json");
  const Checkpoint checkpoint = load({.needs_weights = false});
  CHECK(checkpoint.vocabulary.pieces.size() == 3);
  CHECK(contains(checkpoint.obstacle, "no config.json"));
}
