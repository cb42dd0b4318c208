// A GGUF file taken apart: metadata and the list of tensors, all of it checked against the file's size, none of it
// copied. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3 differ only in that
// version 3 may also be big-endian, which we refuse).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "files/checkpoint.h"

namespace orrery {

enum class GgufType : uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};

struct GgufValue {
  GgufType type = GgufType::uint8;  // of the elements, where it is an array
  bool is_array = false;
  uint64_t count = 1;                  // of elements
  uint64_t offset = 0;                 // where it begins in the file, for messages
  std::span<const std::byte> encoded;  // as the file has it: its type first
  std::span<const std::byte> data;     // the elements alone
};

// The metadata: keys and values in the file's order. The getters give nothing for a key that is absent, and throw
// Error that names file, key and byte for a value of another type or out of range.
class GgufMetadata {
 public:
  explicit GgufMetadata(std::string path) : path_(std::move(path)) {}

  // False where the key is there already. Keys and values are views: the file must stay mapped.
  bool add(std::string_view key, const GgufValue& value);
  const std::vector<std::pair<std::string_view, GgufValue>>& entries() const { return entries_; }
  const GgufValue* find(std::string_view key) const;
  const std::string& path() const { return path_; }

  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;  // any of the integer types
  std::optional<double> number(std::string_view key) const;    // float32 or float64
  std::optional<bool> flag(std::string_view key) const;

  int count(std::string_view key) const;  // a number of things: at least 0, fits an int; throws where it is absent
  int count_or(std::string_view key, int otherwise) const;
  double number_or(std::string_view key, double otherwise) const { return number(key).value_or(otherwise); }
  bool flag_or(std::string_view key, bool otherwise) const { return flag(key).value_or(otherwise); }

  std::vector<std::string_view> texts(std::string_view key) const;  // empty where the key is absent
  std::vector<float> floats(std::string_view key) const;
  std::vector<int32_t> integers(std::string_view key) const;

  // For a value that is of the right type and yet wrong: Error with file, key and byte filled in.
  [[noreturn]] void fail(std::string_view key, ErrorParts parts) const;

 private:
  const GgufValue* scalar(std::string_view key, std::string_view expected) const;
  const GgufValue* array(std::string_view key, GgufType type) const;
  [[noreturn]] void fail_type(std::string_view key, std::string_view expected) const;

  std::string path_;
  std::vector<std::pair<std::string_view, GgufValue>> entries_;
  std::unordered_map<std::string_view, size_t> index_;
};

// For people: "42", "llama", "[336 strings: <unk>, <s>, </s>, ...]".
std::string value_text(const GgufValue& value);
std::string type_text(const GgufValue& value);  // "uint32", "array of string"

struct GgufFile {
  explicit GgufFile(std::string path) : metadata(std::move(path)) {}

  uint32_t version = 0;
  GgufMetadata metadata;
  std::vector<FileTensor> tensors;  // in the file's order; inside the file, aligned, without overlap

  bool has_tensor(std::string_view name) const { return find_tensor(name) != nullptr; }
  const FileTensor* find_tensor(std::string_view name) const;
};

bool is_gguf(const MappedFile& file);         // by its first four bytes
GgufFile parse_gguf(const MappedFile& file);  // that begins like one

struct GgufPart {
  std::shared_ptr<const MappedFile> file;
  GgufFile gguf;
};
// All parts of the model that `file` is a part of, the first one first: mostly `file` alone. Together their tensors
// have names of their own. Throws Error for a part that is missing or belongs to something else.
std::vector<GgufPart> read_gguf_parts(std::shared_ptr<const MappedFile> file);

Vocabulary gguf_vocabulary(const GgufMetadata& metadata);
Checkpoint gguf_checkpoint(std::shared_ptr<const MappedFile> file, const LoadOptions& options);

}  // namespace orrery
