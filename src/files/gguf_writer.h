// Writes GGUF version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/checkpoint.h"

namespace orrery {

// Encodes metadata, key by key, in the order of the calls.
class GgufMetadataWriter {
 public:
  void add_text(std::string_view key, std::string_view value);
  void add_uint32(std::string_view key, int64_t value);
  void add_float32(std::string_view key, double value);
  void add_flag(std::string_view key, bool value);
  void add_texts(std::string_view key, std::span<const std::string_view> values);
  void add_floats(std::string_view key, std::span<const float> values);
  void add_integers(std::string_view key, std::span<const int32_t> values);
  void add_encoded(std::string_view key, std::span<const std::byte> type_and_value);

  uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  uint64_t count_ = 0;
};

struct GgufWriteOptions {
  // The type in which a weight of two or more dimensions is written; empty: the one it has. F32, F16, BF16 or Q8_0,
  // which needs rows of a multiple of 32. Norms and biases are always written as they are.
  std::function<DType(const std::string& name, const Tensor& weight)> type_of;
  // Called after all other metadata, for keys of one's own.
  std::function<void(GgufMetadataWriter& metadata)> add_metadata;
};

// Weights are streamed row by row; the file appears whole or not at all. A checkpoint that was read from GGUF keeps its
// metadata to the byte, but for the file type when types change; clear `encoded_metadata` to have it made anew from
// config, vocabulary and chat template. Throws Error for what the family cannot express in GGUF, and for values that a
// type cannot hold.
void write_gguf(const std::string& path, const Checkpoint& checkpoint, const GgufWriteOptions& options = {});

}  // namespace orrery
