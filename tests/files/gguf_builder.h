// GGUF files for tests, also ones that no writer would write. Independent of the library's own writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::test {

// Value types of GGUF's metadata, as in docs/gguf.md of https://github.com/ggml-org/ggml.
constexpr uint32_t kUint8 = 0, kUint32 = 4, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9, kUint64 = 10;
constexpr uint32_t kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ8_0 = 8, kF64 = 28, kBF16 = 30;

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
inline std::string raw_text(std::string_view text) { return raw<uint64_t>(text.size()) + std::string(text); }

struct GgufBuilder {
  uint32_t version = 3;
  uint64_t alignment = 32;
  std::string metadata;
  uint64_t n_metadata = 0;
  std::string tensors;
  uint64_t n_tensors = 0;
  std::string data;

  // `value` is encoded already.
  GgufBuilder& add(std::string_view key, uint32_t type, const std::string& value) {
    metadata += raw_text(key) + raw(type) + value;
    ++n_metadata;
    return *this;
  }
  GgufBuilder& text(std::string_view key, std::string_view value) { return add(key, kString, raw_text(value)); }
  GgufBuilder& number(std::string_view key, uint32_t value) { return add(key, kUint32, raw(value)); }
  GgufBuilder& real(std::string_view key, float value) { return add(key, kFloat32, raw(value)); }
  GgufBuilder& array(std::string_view key, uint32_t type, uint64_t count, const std::string& elements) {
    return add(key, kArray, raw(type) + raw(count) + elements);
  }
  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string elements;
    for (const std::string& value : values) elements += raw_text(value);
    return array(key, kString, values.size(), elements);
  }

  // Dimensions innermost first, as in the file; `offset` from the start of the data.
  GgufBuilder& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset) {
    tensors += raw_text(name) + raw(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) tensors += raw(dim);
    tensors += raw(type) + raw(offset);
    ++n_tensors;
    return *this;
  }
  // The same with data behind what is there.
  GgufBuilder& tensor_with_data(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                                const std::string& bytes) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    tensor(name, dims, type, data.size());
    data += bytes;
    return *this;
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw(n_tensors) + raw(n_metadata) + metadata + tensors;
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data;
  }
};

// A llama with one layer of width 2, one head, d_ff 2, context 8, a vocabulary of 3 and no tokenizer: all there is to
// one. Keys and tensors can be left out by name, to be put in otherwise.
inline GgufBuilder tiny_llama(const std::vector<std::string>& without = {}) {
  GgufBuilder builder;
  const auto wanted = [&](std::string_view name) {
    for (const std::string& other : without) {
      if (other == name) return false;
    }
    return true;
  };
  const auto number = [&](const char* key, uint32_t value) {
    if (wanted(key)) builder.number(key, value);
  };
  if (wanted("general.architecture")) builder.text("general.architecture", "llama");
  number("llama.context_length", 8);
  number("llama.embedding_length", 2);
  number("llama.block_count", 1);
  number("llama.feed_forward_length", 2);
  number("llama.attention.head_count", 1);
  if (wanted("llama.attention.layer_norm_rms_epsilon")) builder.real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto tensor = [&](const char* name, const std::vector<uint64_t>& dims) {
    if (!wanted(name)) return;
    uint64_t elements = 1;
    for (const uint64_t dim : dims) elements *= dim;
    builder.tensor_with_data(name, dims, kF32, std::string(elements * 4, '\0'));
  };
  tensor("token_embd.weight", {2, 3});
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
    tensor(("blk.0." + std::string(name) + ".weight").c_str(), {2, 2});
  }
  tensor("blk.0.attn_norm.weight", {2});
  tensor("blk.0.ffn_norm.weight", {2});
  tensor("output_norm.weight", {2});
  return builder;
}

}  // namespace orrery::test
