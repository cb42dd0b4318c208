#include "files/llama2c.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "files/gguf_builder.h"
#include "files/gguf_writer.h"
#include "files/random_checkpoint.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const std::string kFolder = "tiny-models/l2c/";

std::string header_v0(const std::vector<int32_t>& sizes) {
  std::string bytes;
  for (const int32_t size : sizes) bytes += raw(size);
  return bytes;
}

// d_model 2, d_ff 2, one layer, one head, one key-value head, three tokens, context 4.
const std::vector<int32_t> kTinySizes = {2, 2, 1, 1, 1, 3, 4};
// embedding, two norms, seven matrices of 2 x 2, the last norm; then tables of 4 x 1 twice
constexpr size_t kTinyFloats = 3 * 2 + 2 * 2 + 7 * 4 + 2 + 2 * 4;

std::string floats(size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += raw(static_cast<float>(i));
  return bytes;
}

std::string piece(float score, std::string_view text) {
  return raw(score) + raw(static_cast<int32_t>(text.size())) + std::string(text);
}

std::string tiny_tokenizer() {
  return raw<int32_t>(6) + piece(0, "<unk>") + piece(0, "\n<s>\n") + piece(0, "\n</s>\n");
}

}  // namespace

TEST_CASE("llama2.c: the tiny models hold the same weights as the GGUF files") {
  for (const auto& [name, gguf_name] :
       {std::pair{"valid_v0_untied.bin", "valid_base.gguf"}, std::pair{"valid_v0_tied.bin", "valid_tied.gguf"}}) {
    const Checkpoint checkpoint = load_checkpoint(data_file(kFolder + name));
    const Checkpoint gguf = load_checkpoint(data_file("tiny-models/gguf/" + std::string(gguf_name)));
    CHECK(checkpoint.format == "llama2.c v0");
    CHECK(checkpoint.config.d_model == gguf.config.d_model);
    CHECK(checkpoint.config.n_kv_heads == gguf.config.n_kv_heads);
    CHECK(checkpoint.config.head_dim == gguf.config.head_dim);
    CHECK(checkpoint.config.vocab_size == gguf.config.vocab_size);
    CHECK(checkpoint.config.context_length == gguf.config.context_length);
    CHECK(checkpoint.config.tied_head == gguf.config.tied_head);
    CHECK(checkpoint.config.norm_epsilon == 1e-5);
    CHECK(checkpoint.config.rope_base == 10000);
    CHECK(checkpoint.config.rope_layout == RopeLayout::interleaved);
    CHECK(checkpoint.weights.size() == gguf.weights.size());
    CHECK(checkpoint.tensors.size() == gguf.weights.size() + 2);  // the RoPE tables
    for (const auto& [weight_name, weight] : gguf.weights) {
      const Tensor* same = checkpoint.find_weight(weight_name);
      REQUIRE(same != nullptr);
      REQUIRE(same_shape(*same, weight));
      CHECK(std::memcmp(same->data, weight.data, n_bytes(weight)) == 0);
    }
    const FileTensor& last = checkpoint.tensors.back();
    CHECK(last.offset + last.bytes == checkpoint.file_bytes);
  }
}

TEST_CASE("llama2.c: the vocabulary in the words of SentencePiece") {
  const Checkpoint checkpoint = load_checkpoint(data_file(kFolder + "valid_v0_tied.bin"));
  const Checkpoint gguf = load_checkpoint(data_file("tiny-models/gguf/valid_tied.gguf"));
  const Vocabulary& vocabulary = checkpoint.vocabulary;
  CHECK(vocabulary.pieces == gguf.vocabulary.pieces);
  CHECK(vocabulary.scores == gguf.vocabulary.scores);
  CHECK(vocabulary.kinds == gguf.vocabulary.kinds);
  CHECK(vocabulary.model == "llama");
  CHECK(vocabulary.bos == 1);
  CHECK(vocabulary.unknown == 0);
  CHECK(vocabulary.end_tokens == std::vector<TokenId>{2, 1});  // run.c stops at BOS
  CHECK(vocabulary.add_bos);
  CHECK(vocabulary.add_space_prefix);
}

TEST_CASE("llama2.c: every weight of a hand-made file stands where export.py puts it") {
  const TemporaryFolder folder;
  write_file(folder / "tokenizer.bin", tiny_tokenizer());
  const auto first = [](const Checkpoint& checkpoint, const std::string& name) {
    return values<float>(*checkpoint.find_weight(name))[0];
  };
  const Checkpoint v0 = load_checkpoint(write_file(folder / "m.bin", header_v0(kTinySizes) + floats(kTinyFloats)));
  CHECK(first(v0, "token_embd.weight") == 0);
  CHECK(first(v0, "blk.0.attn_norm.weight") == 6);
  CHECK(first(v0, "blk.0.attn_q.weight") == 8);
  CHECK(first(v0, "blk.0.attn_k.weight") == 12);
  CHECK(first(v0, "blk.0.attn_v.weight") == 16);
  CHECK(first(v0, "blk.0.attn_output.weight") == 20);
  CHECK(first(v0, "blk.0.ffn_norm.weight") == 24);
  CHECK(first(v0, "blk.0.ffn_gate.weight") == 26);
  CHECK(first(v0, "blk.0.ffn_down.weight") == 30);
  CHECK(first(v0, "blk.0.ffn_up.weight") == 34);
  CHECK(first(v0, "output_norm.weight") == 38);

  std::string header = raw<uint32_t>(0x616b3432) + raw<int32_t>(1) + header_v0(kTinySizes) + raw<uint8_t>(0);
  header.resize(256);
  const Checkpoint v1 = load_checkpoint(write_file(folder / "m.bin", header + floats(kTinyFloats - 8 + 6)));
  CHECK(v1.format == "llama2.c v1");
  CHECK_FALSE(v1.config.tied_head);
  CHECK(first(v1, "blk.0.attn_norm.weight") == 0);
  CHECK(first(v1, "blk.0.ffn_norm.weight") == 2);
  CHECK(first(v1, "output_norm.weight") == 4);
  CHECK(first(v1, "token_embd.weight") == 6);
  CHECK(first(v1, "blk.0.attn_q.weight") == 12);
  CHECK(first(v1, "blk.0.ffn_gate.weight") == 28);
  CHECK(first(v1, "blk.0.ffn_down.weight") == 32);
  CHECK(first(v1, "blk.0.ffn_up.weight") == 36);
  CHECK(first(v1, "output.weight") == 40);
}

TEST_CASE("llama2.c: broken files") {
  const TemporaryFolder folder;
  write_file(folder / "tokenizer.bin", tiny_tokenizer());
  const auto load = [&](const std::string& bytes) { return load_checkpoint(write_file(folder / "m.bin", bytes)); };
  const std::string whole = header_v0(kTinySizes) + floats(kTinyFloats);
  CHECK(load(whole).config.n_layers == 1);
  CHECK_ERROR(load(whole.substr(0, 110)), "cut short", "expected 220 bytes", "found 110", "stopped at 50%");
  CHECK_ERROR(load(whole + "more"), "longer than its header says", "220", "224");

  // Without a magic number, a header that makes no sense means another kind of file.
  const int32_t least = std::numeric_limits<int32_t>::min();
  for (size_t i = 0; i < kTinySizes.size(); ++i) {
    for (const int32_t value : {0, -1, least, std::numeric_limits<int32_t>::max()}) {
      if (i == 5 && value == -1) continue;
      std::vector<int32_t> sizes = kTinySizes;
      sizes[i] = value;
      CHECK_ERROR(load(header_v0(sizes) + floats(kTinyFloats)), "not a model file");
    }
  }
  const auto v1 = [&](int32_t version, const std::vector<int32_t>& sizes, uint8_t shared) {
    std::string bytes = raw<uint32_t>(0x616b3432) + raw(version) + header_v0(sizes) + raw(shared);
    bytes.resize(256);
    return bytes + floats(kTinyFloats - 8);
  };
  CHECK(load(v1(1, kTinySizes, 1)).config.tied_head);
  CHECK_ERROR(load(v1(3, kTinySizes, 1)), "version 3");
  CHECK_ERROR(load(v1(1, kTinySizes, 2)), "shared classifier", "found 2");
  CHECK_ERROR(load(v1(1, {2, 2, 1, 1, 1, -3, 4}, 1)), "size of the vocabulary", "found -3");
  CHECK_ERROR(load(v1(1, {2, 2, 1, 2, 2, 3, 4}, 1)), "rotated elements");
  CHECK_ERROR(load(v1(1, kTinySizes, 1).substr(0, 100)), "header", "ends too early");
  // As large as the limits allow: refused before anything is taken for it.
  CHECK_ERROR(load(v1(1, {1 << 20, 1 << 20, 1 << 14, 1, 1, 1 << 24, 1 << 27}, 1)), "cut short");
}

TEST_CASE("llama2.c: the vocabulary lies beside the model or where one says") {
  const TemporaryFolder folder;
  const std::string path = write_file(folder / "m.bin", header_v0(kTinySizes) + floats(kTinyFloats));
  CHECK_ERROR(load_checkpoint(path), "none beside it", "tokenizer.bin", "--tokenizer");
  CHECK(load_checkpoint(path, {.needs_tokenizer = false}).vocabulary.empty());
  const std::string other = write_file(folder / "other.bin", tiny_tokenizer());
  CHECK(load_checkpoint(path, {.tokenizer_path = other}).vocabulary.pieces.size() == 3);
  CHECK_ERROR(load_checkpoint(path, {.tokenizer_path = other + "x", .needs_tokenizer = false}), "other.binx",
              "cannot open");

  const auto load = [&](const std::string& bytes) {
    write_file(folder / "tokenizer.bin", bytes);
    return load_checkpoint(path);
  };
  CHECK(load(tiny_tokenizer()).vocabulary.pieces.size() == 3);
  CHECK_ERROR(load(tiny_tokenizer() + piece(-1, " a")), "do not belong together", "3 pieces", "found more",
              "--tokenizer");
  CHECK_ERROR(load(raw<int32_t>(6) + piece(0, "<unk>")), "do not belong together", "found 1");
  CHECK_ERROR(load(raw<int32_t>(6) + raw(0.f) + raw<int32_t>(-1)), "length of a piece is negative", "byte 8");
  CHECK_ERROR(load(raw<int32_t>(6) + raw(0.f) + raw<int32_t>(1000)), "tokenizer at byte 12", "ends too early");
  CHECK_ERROR(load(raw<int32_t>(6) + piece(std::numeric_limits<float>::quiet_NaN(), "a")), "not a number");
}

TEST_CASE("llama2.c: what is written is read back, and leads to GGUF and back again") {
  const TemporaryFolder folder;
  for (const char* name : {"valid_v0_untied.bin", "valid_v0_tied.bin"}) {
    const std::string path = data_file(kFolder + name);
    const Checkpoint first = load_checkpoint(path);
    write_llama2c_tokenizer(folder / "tokenizer.bin", first.vocabulary);
    CHECK(file_bytes(folder / "tokenizer.bin") == file_bytes(data_file(kFolder + "tokenizer.bin")));
    write_gguf(folder / "m.gguf", first);
    const Checkpoint gguf = load_checkpoint(folder / "m.gguf");
    CHECK(gguf.vocabulary.pieces == first.vocabulary.pieces);
    CHECK(gguf.vocabulary.end_tokens == first.vocabulary.end_tokens);
    for (const int version : {0, 1}) {
      write_llama2c(folder / "m.bin", gguf, version);
      const Checkpoint again = load_checkpoint(folder / "m.bin");
      CHECK(again.format == "llama2.c v" + std::to_string(version));
      CHECK(again.config.tied_head == first.config.tied_head);
      REQUIRE(again.weights.size() == first.weights.size());
      for (const auto& [weight_name, weight] : first.weights) {
        const Tensor* same = again.find_weight(weight_name);
        REQUIRE(same != nullptr);
        CHECK(std::memcmp(same->data, weight.data, n_bytes(weight)) == 0);
      }
      if (version == 1) continue;
      // The tables are not read, but they are there.
      const FileTensor& cosines = again.tensors[again.tensors.size() - (again.config.tied_head ? 2 : 3)];
      const std::string bytes = file_bytes(folder / "m.bin");
      float cosine;
      std::memcpy(&cosine, bytes.data() + cosines.offset + 4 * 4, sizeof cosine);  // position 1, the first pair
      CHECK(cosine == doctest::Approx(0.5403023));
    }
  }
}

TEST_CASE("llama2.c: models and vocabularies that the format cannot express") {
  const TemporaryFolder folder;
  const std::string path = folder / "m.bin";
  const Checkpoint tiny = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  CHECK_ERROR(write_llama2c(path, tiny, 2), "0 or 1", "found 2");
  const auto load = [](const char* name) {
    return load_checkpoint(data_file("tiny-models/gguf/" + std::string(name)));
  };
  CHECK_ERROR(write_llama2c(path, load("valid_eps.gguf"), 1), "norm epsilon", "GGUF");
  CHECK_ERROR(write_llama2c(path, load("valid_theta50.gguf"), 1), "RoPE base");
  CHECK_ERROR(write_llama2c(path, load("valid_head_dim16.gguf"), 1), "head size of its own");

  Vocabulary vocabulary = tiny.vocabulary;
  vocabulary.bos = 5;
  CHECK_ERROR(write_llama2c_tokenizer(path, vocabulary), "tokenizer.bin", "<unk>, <s>, </s>");
  vocabulary = tiny.vocabulary;
  vocabulary.kinds[300] = PieceKind::user_defined;
  CHECK_ERROR(write_llama2c_tokenizer(path, vocabulary), "no place for the kinds", "piece 300");
  CHECK(std::filesystem::is_empty(folder / ""));
}
