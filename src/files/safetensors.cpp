#include "files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "files/json_reader.h"

namespace orrery {
namespace {

constexpr size_t kMaxValues = 2'000'000;  // of a header: some ten for each tensor
constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxShards = 4096;
constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

// Types of the format that are a whole number of bytes, computed with or not.
constexpr struct {
  std::string_view name;
  uint64_t bytes;
} kTypes[] = {
    {"F64", 8},     {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"F8_E8M0", 1}, {"I64", 8}, {"I32", 4}, {"I16", 2},  {"I8", 1},      {"U64", 8},
    {"U32", 4},     {"U16", 2}, {"U8", 1},  {"C64", 8},  {"BOOL", 1},
};

// The header: an object of tensors, and of texts in "__metadata__".
class HeaderReader : public JsonListener {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  struct Entry {
    FileTensor tensor;
    std::vector<int64_t> offsets;
    bool has_shape = false;
  };
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  void add(const std::string& key, JsonValue value) override {
    const bool is_list = value.type == JsonValue::list;
    const bool is_object = value.type == JsonValue::object;
    if (depth_ == 0) {
      if (!is_object) fail("", "the header is not a JSON object");
    } else if (depth_ == 1) {
      begin_entry(key, is_object);
    } else if (is_metadata_) {
      if (value.type != JsonValue::text) fail("__metadata__", "the metadata is not a list of texts");
      metadata.insert_or_assign(key, std::move(value.text_value));
    } else if (depth_ == 2) {
      add_property(key, std::move(value));
    } else {
      add_number(value);
    }
    if (is_list || is_object) ++depth_;
  }
  void end() override { --depth_; }

  [[noreturn]] void fail(const std::string& tensor, const std::string& what, const std::string& found = "",
                         const std::string& expected = "") const {
    throw Error({.what = what,
                 .where = path_ + (tensor.empty() ? "" : ": tensor " + tensor),
                 .expected = expected,
                 .found = found});
  }

 private:
  void begin_entry(const std::string& name, bool is_object) {
    if (!is_object) fail(name, "the header says nothing about the tensor");
    if (!names_.insert(name).second) fail(name, "the tensor is there twice");
    is_metadata_ = name == "__metadata__";
    if (!is_metadata_) entries.push_back({.tensor = {.name = name}});
  }

  void add_property(const std::string& key, JsonValue value) {
    FileTensor& tensor = entries.back().tensor;
    if (key == "dtype" && value.type == JsonValue::text && tensor.type.empty()) {
      tensor.type = std::move(value.text_value);
    } else if (key == "shape" && value.type == JsonValue::list && !entries.back().has_shape) {
      entries.back().has_shape = true;
      list_ = &tensor.shape;
    } else if (key == "data_offsets" && value.type == JsonValue::list && entries.back().offsets.empty()) {
      list_ = &entries.back().offsets;
    } else {
      fail(tensor.name, "the header says something about the tensor that makes no sense", key,
           "dtype, shape and data_offsets");
    }
  }

  void add_number(const JsonValue& value) {
    const std::string& name = entries.back().tensor.name;
    if (value.type != JsonValue::integer || value.number < 0) {
      fail(name, "shape and offsets must be whole numbers that fit 63 bits and are not negative");
    }
    list_->push_back(value.number);
  }

  const std::string& path_;
  std::unordered_set<std::string> names_;
  std::vector<int64_t>* list_ = nullptr;  // that is being read
  int depth_ = 0;
  bool is_metadata_ = false;
};

// Fills in the tensor's offset and bytes; `n_data` bytes of tensors follow the header.
void check_entry(const HeaderReader& header, HeaderReader::Entry& entry, uint64_t data_begin, uint64_t n_data) {
  FileTensor& tensor = entry.tensor;
  const uint64_t each = safetensors_element_bytes(tensor.type);
  if (each == 0) header.fail(tensor.name, "the type of the tensor is not known", tensor.type);
  if (!entry.has_shape) header.fail(tensor.name, "the tensor has no shape");
  if (entry.offsets.size() != 2) {
    header.fail(tensor.name, "data_offsets must be two numbers", std::to_string(entry.offsets.size()));
  }
  const auto begin = static_cast<uint64_t>(entry.offsets[0]);
  const auto end = static_cast<uint64_t>(entry.offsets[1]);
  if (begin > end) header.fail(tensor.name, "the tensor ends before it begins");
  if (end > n_data) {
    header.fail(tensor.name, "the tensor reaches past the end of the file, which was probably not fetched whole",
                std::to_string(end), "at most " + std::to_string(n_data) + " bytes of tensors");
  }
  uint64_t bytes = each;
  for (const int64_t extent : tensor.shape) {
    const auto factor = static_cast<uint64_t>(extent);
    if (factor != 0 && bytes > n_data / factor) {
      header.fail(tensor.name, "the tensor is larger than the file");
    }
    bytes *= factor;
  }
  if (bytes != end - begin) {
    header.fail(tensor.name, "the tensor has not the bytes that its shape needs", std::to_string(end - begin),
                std::to_string(bytes));
  }
  tensor.offset = data_begin + begin;
  tensor.bytes = bytes;
}

// One after the other, from the first byte to the last.
void check_layout(const HeaderReader& header, const std::vector<FileTensor>& tensors, uint64_t begin, uint64_t end) {
  uint64_t expected = begin;
  for (const FileTensor& tensor : tensors) {
    if (tensor.offset < expected) header.fail(tensor.name, "the tensor overlaps with the one before it");
    if (tensor.offset > expected) header.fail(tensor.name, "before the tensor there are bytes that belong to none");
    expected = tensor.offset + tensor.bytes;
  }
  if (expected != end) header.fail("", "the file ends with bytes that belong to no tensor");
}

}  // namespace

uint64_t safetensors_element_bytes(std::string_view type) {
  const auto* found = std::ranges::find_if(kTypes, [&](const auto& known) { return known.name == type; });
  return found == std::end(kTypes) ? 0 : found->bytes;
}

SafetensorsFile read_safetensors(const std::string& path) {
  SafetensorsFile result;
  result.file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = result.file->bytes();
  uint64_t length = 0;
  if (bytes.size() >= kLengthBytes) std::memcpy(&length, bytes.data(), kLengthBytes);
  if (bytes.size() < kLengthBytes || length > std::min<uint64_t>(bytes.size() - kLengthBytes, kMaxSafetensorsHeader)) {
    throw Error({.what = "the header does not fit into the file, so this is not safetensors or only a part of it",
                 .where = path,
                 .hint = "the download was probably cut short; fetch the file again"});
  }
  HeaderReader header(path);
  const auto* text = reinterpret_cast<const char*>(bytes.data() + kLengthBytes);
  read_json(path + ": header", {text, static_cast<size_t>(length)}, kMaxValues, header);
  const uint64_t begin = kLengthBytes + length;
  for (HeaderReader::Entry& entry : header.entries) {
    check_entry(header, entry, begin, bytes.size() - begin);
    result.tensors.push_back(std::move(entry.tensor));
  }
  std::ranges::stable_sort(result.tensors, {}, [](const FileTensor& t) { return std::pair(t.offset, t.bytes); });
  check_layout(header, result.tensors, begin, bytes.size());
  result.metadata = std::move(header.metadata);
  return result;
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  const auto dtype = dtype_from_name(name);
  return dtype && *dtype != DType::Q8_0 && safetensors_element_bytes(name) > 0 ? dtype : std::nullopt;
}

namespace {

// model.safetensors.index.json: which tensor is in which file.
class IndexReader : public JsonListener {
 public:
  explicit IndexReader(const std::string& path) : path_(path) {}

  std::unordered_map<std::string, std::string> files;  // by the name of the tensor
  std::vector<std::string> names;                      // of the files, in the order of the index

  void add(const std::string& key, JsonValue value) override {
    if (depth_ == 0 && value.type != JsonValue::object) fail("the file is not a JSON object");
    if (depth_ == 1) in_map_ = key == "weight_map";
    if (depth_ == 1 && in_map_ && value.type != JsonValue::object) fail("the weight_map is not an object");
    if (depth_ >= 2 && in_map_) {
      if (value.type != JsonValue::text) fail("the weight_map must have names of files");
      add_weight(key, value.text_value);
    }
    if (value.type == JsonValue::list || value.type == JsonValue::object) ++depth_;
  }
  void end() override { --depth_; }

  [[noreturn]] void fail(const std::string& what, const std::string& found = "") const {
    throw Error({.what = what, .where = path_, .found = found});
  }

 private:
  void add_weight(const std::string& weight, const std::string& file) {
    const bool is_plain = file.find_first_of("/\\") == std::string::npos && file.ends_with(".safetensors") &&
                          file.find('\0') == std::string::npos;
    if (!is_plain) fail("a part of the model must be a .safetensors file in the same folder", file);
    if (!files.emplace(weight, file).second) fail("the weight_map has a tensor twice", weight);
    if (!seen_.insert(file).second) return;
    if (names.size() == kMaxShards) fail("the model is in too many files");
    names.push_back(file);
  }

  const std::string& path_;
  std::unordered_set<std::string> seen_;
  int depth_ = 0;
  bool in_map_ = false;
};

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::vector<SafetensorsFile> read_shards(const std::string& folder) {
  const std::string path = folder + "/" + kIndexFile;
  const MappedFile file(path);
  IndexReader index(path);
  read_json(path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, kMaxValues, index);
  if (index.names.empty()) index.fail("the index names no files");
  std::vector<SafetensorsFile> shards;
  size_t n_found = 0;
  for (const std::string& name : index.names) {
    shards.push_back(read_safetensors(folder + "/" + name));
    for (const FileTensor& tensor : shards.back().tensors) {
      const auto listed = index.files.find(tensor.name);
      if (listed == index.files.end() || listed->second != name) {
        index.fail("the index does not say that the tensor " + tensor.name + " is in " + name);
      }
      ++n_found;
    }
  }
  if (n_found == index.files.size()) return shards;
  for (const SafetensorsFile& shard : shards) {
    for (const FileTensor& tensor : shard.tensors) index.files.erase(tensor.name);
  }
  index.fail("a tensor is not in the file that the index says it is in", index.files.begin()->first);
}

}  // namespace

bool has_safetensors(const std::string& folder) {
  return is_there(folder + "/" + kSingleFile) || is_there(folder + "/" + kIndexFile);
}

std::vector<SafetensorsFile> read_safetensors_folder(const std::string& folder) {
  if (!is_there(folder + "/" + kSingleFile) && is_there(folder + "/" + kIndexFile)) return read_shards(folder);
  std::vector<SafetensorsFile> files;
  files.push_back(read_safetensors(folder + "/" + kSingleFile));
  return files;
}

}  // namespace orrery
