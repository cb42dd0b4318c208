#include "files/safetensors_writer.h"

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output_file.h"
#include "base/utf8.h"
#include "files/safetensors.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& path, const SafetensorsTensor& tensor, const std::string& what,
                       const std::string& found = "", const std::string& expected = "") {
  throw Error({.what = what, .where = path + ": tensor " + tensor.name, .expected = expected, .found = found});
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void check(const std::string& path, const SafetensorsTensor& tensor) {
  const uint64_t each = safetensors_element_bytes(tensor.type);
  if (each == 0) fail(path, tensor, "safetensors has no such type", tensor.type);
  if (!is_utf8(tensor.name) || tensor.name == "__metadata__") fail(path, tensor, "a tensor cannot have this name");
  uint64_t left = tensor.bytes.size();  // divided instead of multiplied: nothing can overflow
  bool is_empty = false;
  for (const int64_t extent : tensor.shape) {
    if (extent < 0) fail(path, tensor, "a shape cannot be negative", std::to_string(extent));
    is_empty = is_empty || extent == 0;
    if (extent > 0) left = left % static_cast<uint64_t>(extent) == 0 ? left / static_cast<uint64_t>(extent) : 0;
  }
  if (is_empty ? !tensor.bytes.empty() : left != each) {
    fail(path, tensor, "the bytes do not fit the type and the shape", std::to_string(tensor.bytes.size()));
  }
}

// The JSON header, with spaces behind it up to a multiple of eight.
std::string header_of(const std::string& path, std::span<const SafetensorsTensor* const> tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  // Json looks through all keys before it adds one; the vector that it is does not. All names are known to differ.
  auto& entries = static_cast<std::vector<std::pair<const std::string, Json>>&>(header.get_ref<Json::object_t&>());
  uint64_t offset = 0;
  for (const SafetensorsTensor* tensor : tensors) {
    const uint64_t end = offset + tensor->bytes.size();
    entries.emplace_back(
        tensor->name,
        Json{{"dtype", tensor->type}, {"shape", tensor->shape}, {"data_offsets", Json::array({offset, end})}});
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() <= kMaxSafetensorsHeader) return text;
  throw Error({.what = "the header is too long for safetensors",
               .where = path,
               .expected = "at most " + std::to_string(kMaxSafetensorsHeader) + " bytes",
               .found = std::to_string(text.size())});
}

}  // namespace

SafetensorsTensor safetensors_tensor(const Tensor& tensor, std::string_view name) {
  const std::string full_name(name.empty() ? std::string_view(tensor.name) : name);
  if (!is_contiguous(tensor) || !safetensors_dtype(info(tensor.dtype).name)) {
    throw Error({.what = "safetensors cannot hold this tensor",
                 .where = full_name,
                 .expected = "side by side, F32, F64, F16 or BF16",
                 .found = info(tensor.dtype).name});
  }
  return {
      full_name, info(tensor.dtype).name, {tensor.shape, tensor.shape + tensor.n_dims}, {tensor.data, n_bytes(tensor)}};
}

void write_safetensors(const std::string& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const SafetensorsTensor*> ordered;
  std::unordered_set<std::string_view> names;
  for (const SafetensorsTensor& tensor : tensors) {
    check(path, tensor);
    if (!names.insert(tensor.name).second) fail(path, tensor, "the tensor is there twice");
    ordered.push_back(&tensor);
  }
  for (const auto& [key, value] : metadata) {
    if (is_utf8(key) && is_utf8(value)) continue;
    throw Error({.what = "metadata must be UTF-8", .where = path + ": " + key});
  }
  // Then each begins at a multiple of its element's size, since the header ends at one of eight.
  std::ranges::stable_sort(ordered, std::ranges::greater(),
                           [](const SafetensorsTensor* t) { return safetensors_element_bytes(t->type); });

  const std::string header = header_of(path, ordered, metadata);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const SafetensorsTensor* tensor : ordered) file.write(tensor->bytes);
  file.commit();
}

}  // namespace orrery
