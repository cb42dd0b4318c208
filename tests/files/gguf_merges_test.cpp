// Byte-level BPE in GGUF files.
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf_builder.h"
#include "files/gguf_writer.h"
#include "files/random_checkpoint.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

Checkpoint load(const GgufBuilder& builder) {
  const TemporaryFolder folder;
  return load_checkpoint(write_file(folder / "m.gguf", builder.bytes()), {.needs_weights = false});
}

GgufBuilder vocabulary_file(const char* pre) {
  GgufBuilder builder;
  builder.text("general.architecture", "gpt2").text("tokenizer.ggml.model", "gpt2");
  builder.texts("tokenizer.ggml.tokens", {"a", "b", "\u0120", "ab", "<s>"});
  builder.array("tokenizer.ggml.token_type", kInt32, 5, raw(1) + raw(1) + raw(1) + raw(1) + raw(3));
  builder.number("tokenizer.ggml.bos_token_id", 4);
  if (pre != nullptr) builder.text("tokenizer.ggml.pre", pre);
  return builder;
}

// A model with as many tokens as the vocabulary has.
Checkpoint model_with(const Vocabulary& vocabulary) {
  ModelConfig config;
  config.family = "llama";
  config.n_layers = 1;
  config.d_model = config.d_ff = config.head_dim = config.rope_dims = 8;
  config.n_heads = config.n_kv_heads = 1;
  config.context_length = 16;
  config.norm_epsilon = 1e-5;
  config.rope_base = 10000;
  config.vocab_size = static_cast<int>(vocabulary.pieces.size());
  Checkpoint checkpoint = random_checkpoint(config, DType::F32, 1);
  checkpoint.vocabulary = vocabulary;
  return checkpoint;
}

}  // namespace

TEST_CASE("gguf: merges and the way to cut text are read") {
  const Checkpoint gpt2 = load(vocabulary_file("gpt-2").texts("tokenizer.ggml.merges", {"a b"}));
  CHECK(gpt2.vocabulary.merges == std::vector<std::string_view>{"a b"});
  CHECK(gpt2.vocabulary.pre_tokenization.name == "gpt-2");
  CHECK_FALSE(gpt2.vocabulary.add_bos);
  CHECK_FALSE(gpt2.vocabulary.add_space_prefix);
  const auto tokenizer = make_tokenizer(gpt2.vocabulary, "test");
  CHECK(tokenizer->encode("ab a") == std::vector<TokenId>{3, 2, 0});
  CHECK(tokenizer->decode(std::vector<TokenId>{3, 2, 4, 0}) == "ab a");

  // Files with Llama 3's name want BOS unless they say no.
  GgufBuilder llama = vocabulary_file("llama-bpe").texts("tokenizer.ggml.merges", {"a b"});
  CHECK(make_tokenizer(load(llama).vocabulary, "test")->encode("ab") == std::vector<TokenId>{4, 3});
  llama.add("tokenizer.ggml.add_bos_token", kBool, raw(uint8_t{0}));
  CHECK(make_tokenizer(load(llama).vocabulary, "test")->encode("ab") == std::vector<TokenId>{3});
}

TEST_CASE("gguf: a tokenizer without merges, or without a known way to cut text") {
  CHECK_ERROR(load(vocabulary_file("gpt-2")), "tokenizer.ggml.pre", "needs its merges");
  GgufBuilder wrong = vocabulary_file("gpt-2").array("tokenizer.ggml.merges", kInt32, 1, raw(1));
  CHECK_ERROR(load(wrong), "tokenizer.ggml.merges", "array of string");
  // The vocabulary can be looked at; only the tokenizer cannot be made.
  const Checkpoint old = load(vocabulary_file(nullptr).texts("tokenizer.ggml.merges", {"a b"}));
  CHECK(old.vocabulary.merges.size() == 1);
  CHECK_ERROR(make_tokenizer(old.vocabulary, "test"), "does not say how text is to be cut", "May 2024");
  const Checkpoint unknown = load(vocabulary_file("superbpe").texts("tokenizer.ggml.merges", {"a b"}));
  CHECK_ERROR(make_tokenizer(unknown.vocabulary, "test"), "the pre-tokenizer 'superbpe' is not known");
  const Checkpoint broken = load(vocabulary_file("gpt-2").texts("tokenizer.ggml.merges", {"ab"}));
  CHECK_ERROR(make_tokenizer(broken.vocabulary, "m.gguf"), "m.gguf: merge 0", "not two pieces");
}

TEST_CASE("gguf: byte-level BPE is written and read again") {
  const TemporaryFolder folder;
  ByteLevelBuilder builder;
  builder.merge("a", "b");
  builder.merge(" ", "ab");
  builder.vocabulary().bos = builder.add("<s>", PieceKind::control);
  builder.vocabulary().end_tokens = {builder.vocabulary().bos};
  for (const PreTokenization& rules : known_pre_tokenizations()) {
    CAPTURE(rules.name);
    builder.vocabulary().pre_tokenization = rules;
    builder.vocabulary().add_bos = !rules.add_bos;
    write_gguf(folder / "m.gguf", model_with(builder.vocabulary()));
    const Checkpoint checkpoint = load_checkpoint(folder / "m.gguf");
    const Vocabulary& again = checkpoint.vocabulary;
    CHECK(again.model == "gpt2");
    CHECK(again.pieces == builder.vocabulary().pieces);
    CHECK(again.kinds == builder.vocabulary().kinds);
    CHECK(again.merges == builder.vocabulary().merges);
    CHECK(again.bos == builder.vocabulary().bos);
    CHECK(again.end_tokens == builder.vocabulary().end_tokens);
    CHECK(again.add_bos == builder.vocabulary().add_bos);
    CHECK(again.pre_tokenization.name == rules.name);
    CHECK(again.pre_tokenization.patterns == rules.patterns);
  }
}

TEST_CASE("gguf: patterns from elsewhere are written by their name, or not at all") {
  const TemporaryFolder folder;
  ByteLevelBuilder builder;
  builder.vocabulary().pre_tokenization.name = "";
  write_gguf(folder / "m.gguf", model_with(builder.vocabulary()));
  CHECK(load_checkpoint(folder / "m.gguf").vocabulary.pre_tokenization.name == "gpt-2");
  builder.vocabulary().pre_tokenization.patterns = {"my own"};
  CHECK_ERROR(write_gguf(folder / "m.gguf", model_with(builder.vocabulary())), "GGUF has no name", "my own");
}
