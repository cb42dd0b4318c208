// From the bytes of a GGUF file to a GgufFile, front to back as docs/gguf.md draws it: header, metadata, tensor list,
// padding, tensor data.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "base/error.h"
#include "files/byte_reader.h"
#include "files/ggml_type.h"
#include "files/gguf.h"

namespace orrery {
namespace {

constexpr uint64_t kDefaultAlignment = 32;
constexpr int64_t kLargestAlignment = 1 << 20;  // files use 32; this keeps sums far from overflow
constexpr uint64_t kLongestKey = 65535;
constexpr uint64_t kLongestTensorName = 64;
// The smallest a key with its value and a tensor's entry can be: a length, one letter, and the fixed fields.
constexpr uint64_t kSmallestEntry = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;

// Bytes of one value; 0 for strings, whose sizes differ.
uint64_t element_bytes(GgufType type) {
  switch (type) {
    case GgufType::uint8:
    case GgufType::int8:
    case GgufType::boolean: return 1;
    case GgufType::uint16:
    case GgufType::int16: return 2;
    case GgufType::uint32:
    case GgufType::int32:
    case GgufType::float32: return 4;
    case GgufType::uint64:
    case GgufType::int64:
    case GgufType::float64: return 8;
    case GgufType::string:
    case GgufType::array: break;
  }
  return 0;
}

uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

class Parser {
 public:
  explicit Parser(const MappedFile& file)
      : bytes_(file.bytes()), path_(file.path()), reader_(bytes_, path_), file_(path_) {}

  GgufFile parse() {
    read_header();
    read_metadata();
    read_alignment();
    read_tensors();
    place_tensors();
    check_overlap();
    return std::move(file_);
  }

 private:
  void read_header();
  void read_metadata();
  void read_alignment();
  void read_tensors();
  void place_tensors();
  void check_overlap() const;

  std::string_view read_string() { return reader_.text(reader_.read<uint64_t>()); }
  GgufType read_type();
  GgufValue read_value();
  FileTensor read_tensor();
  uint64_t tensor_bytes(const FileTensor& tensor, const GgmlType& type, uint64_t at) const;
  bool is_cut_short(uint64_t end) const;

  std::span<const std::byte> bytes_;
  const std::string& path_;
  ByteReader reader_;
  GgufFile file_;
  uint64_t n_tensors_ = 0;
  uint64_t n_entries_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
};

void Parser::read_header() {
  reader_.part("header");
  reader_.take(4);  // "GGUF": is_gguf() has looked
  file_.version = reader_.read<uint32_t>();
  if (const uint32_t swapped = __builtin_bswap32(file_.version); swapped == 2 || swapped == 3) {
    reader_.fail({.what = "big-endian GGUF files are not supported",
                  .expected = "a little-endian file",
                  .found = "a big-endian one of version " + std::to_string(swapped)},
                 4);
  }
  if (file_.version != 2 && file_.version != 3) {
    reader_.fail({.what = "this version of GGUF is not supported",
                  .expected = "version 2 or 3",
                  .found = "version " + std::to_string(file_.version)},
                 4);
  }
  n_tensors_ = reader_.read<uint64_t>();
  n_entries_ = reader_.read<uint64_t>();
  reader_.require(n_entries_, kSmallestEntry);
  reader_.require(n_tensors_, kSmallestTensor);
}

void Parser::read_metadata() {
  for (uint64_t i = 0; i < n_entries_; ++i) {
    const uint64_t at = reader_.offset();
    reader_.part("metadata key");
    const std::string_view key = read_string();
    if (key.empty()) reader_.fail({.what = "a metadata key is empty"}, at);
    if (key.size() > kLongestKey) {
      reader_.fail({.what = "a metadata key is too long",
                    .expected = "at most " + std::to_string(kLongestKey) + " bytes",
                    .found = std::to_string(key.size())},
                   at);
    }
    reader_.part("metadata key", key);
    if (!file_.metadata.add(key, read_value())) reader_.fail({.what = "this metadata key comes twice"}, at);
  }
}

GgufType Parser::read_type() {
  const uint64_t at = reader_.offset();
  const auto type = reader_.read<uint32_t>();
  if (type > static_cast<uint32_t>(GgufType::float64)) {
    reader_.fail(
        {.what = "the value has a type that GGUF does not know", .expected = "0 to 12", .found = std::to_string(type)},
        at);
  }
  return static_cast<GgufType>(type);
}

GgufValue Parser::read_value() {
  GgufValue value;
  value.offset = reader_.offset();
  value.type = read_type();
  if (value.type == GgufType::array) {
    value.is_array = true;
    const uint64_t at = reader_.offset();
    value.type = read_type();
    if (value.type == GgufType::array) reader_.fail({.what = "arrays of arrays are not supported"}, at);
    value.count = reader_.read<uint64_t>();
  }
  const uint64_t begin = reader_.offset();
  if (value.type == GgufType::string) {
    reader_.require(value.count, sizeof(uint64_t));
    for (uint64_t i = 0; i < value.count; ++i) read_string();
  } else {
    const uint64_t size = element_bytes(value.type);
    reader_.require(value.count, size);
    reader_.take(value.count * size);
  }
  value.data = bytes_.subspan(begin, reader_.offset() - begin);
  value.encoded = bytes_.subspan(value.offset, reader_.offset() - value.offset);
  if (value.type == GgufType::boolean) {
    const auto wrong = std::ranges::find_if(value.data, [](std::byte b) { return b > std::byte{1}; });
    if (wrong != value.data.end()) {
      reader_.fail({.what = "a boolean is neither false nor true",
                    .expected = "0 or 1",
                    .found = std::to_string(std::to_integer<int>(*wrong))},
                   begin + static_cast<uint64_t>(wrong - value.data.begin()));
    }
  }
  return value;
}

void Parser::read_alignment() {
  const std::string_view key = "general.alignment";
  const auto alignment = file_.metadata.integer(key);
  if (!alignment) return;
  if (*alignment < 1 || *alignment > kLargestAlignment || !std::has_single_bit(static_cast<uint64_t>(*alignment))) {
    file_.metadata.fail(key, {.what = "the alignment makes no sense",
                              .expected = "a power of two up to " + std::to_string(kLargestAlignment),
                              .found = std::to_string(*alignment)});
  }
  alignment_ = static_cast<uint64_t>(*alignment);
}

void Parser::read_tensors() {
  reader_.require(n_tensors_, kSmallestTensor);
  std::unordered_set<std::string_view> names;
  for (uint64_t i = 0; i < n_tensors_; ++i) {
    const uint64_t at = reader_.offset();
    reader_.part("tensor list");
    const std::string_view name = read_string();
    if (name.empty()) reader_.fail({.what = "the name of a tensor is empty"}, at);
    if (name.size() > kLongestTensorName) {
      reader_.fail({.what = "the name of a tensor is too long",
                    .expected = "at most " + std::to_string(kLongestTensorName) + " bytes",
                    .found = std::to_string(name.size())},
                   at);
    }
    reader_.part("tensor", name);
    if (!names.insert(name).second) reader_.fail({.what = "this tensor comes twice"}, at);
    file_.tensors.push_back(read_tensor());
    file_.tensors.back().name = name;
  }
}

// Dimensions stand innermost first in the file, outermost first in Orrery.
FileTensor Parser::read_tensor() {
  const uint64_t at = reader_.offset();
  FileTensor tensor;
  const auto n_dims = reader_.read<uint32_t>();
  if (n_dims < 1 || n_dims > kMaxDims) {
    reader_.fail({.what = "the number of dimensions makes no sense",
                  .expected = "1 to " + std::to_string(kMaxDims),
                  .found = std::to_string(n_dims)},
                 at);
  }
  for (uint32_t i = 0; i < n_dims; ++i) {
    const uint64_t dim_at = reader_.offset();
    const auto dim = reader_.read<uint64_t>();
    if (dim == 0 || dim > static_cast<uint64_t>(INT64_MAX)) {
      reader_.fail({.what = "a dimension makes no sense", .found = std::to_string(dim)}, dim_at);
    }
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(dim));
  }
  const uint64_t type_at = reader_.offset();
  const auto type_id = reader_.read<uint32_t>();
  const GgmlType* type = ggml_type(type_id);
  if (type == nullptr) {
    reader_.fail({.what = "the tensor has a type that is not known here", .found = "type " + std::to_string(type_id)},
                 type_at);
  }
  tensor.type = type->name;
  tensor.bytes = tensor_bytes(tensor, *type, at);
  const uint64_t offset_at = reader_.offset();
  tensor.offset = reader_.read<uint64_t>();  // from the start of the data: place_tensors() makes it one of the file
  if (tensor.offset % alignment_ != 0) {
    reader_.fail({.what = "the tensor is misaligned",
                  .expected = "an offset that is a multiple of " + std::to_string(alignment_),
                  .found = std::to_string(tensor.offset)},
                 offset_at);
  }
  return tensor;
}

uint64_t Parser::tensor_bytes(const FileTensor& tensor, const GgmlType& type, uint64_t at) const {
  const auto row = static_cast<uint64_t>(tensor.shape.back());
  if (row % type.block_elements != 0) {
    reader_.fail({.what = std::string("the rows are not whole blocks of ") + type.name,
                  .expected = "a multiple of " + std::to_string(type.block_elements),
                  .found = std::to_string(row)},
                 at);
  }
  uint64_t bytes = row / type.block_elements;
  bool overflows = __builtin_mul_overflow(bytes, type.block_bytes, &bytes);
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) {
    overflows |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.shape[i]), &bytes);
  }
  if (overflows || bytes > static_cast<uint64_t>(INT64_MAX)) {
    reader_.fail({.what = "the product of the dimensions is too large for any file"}, at);
  }
  return bytes;
}

// Offsets become those from the start of the file, once they are known to lie inside it.
void Parser::place_tensors() {
  const uint64_t data_begin = round_up(reader_.offset(), alignment_);
  const FileTensor* first_outside = nullptr;
  uint64_t end = 0;
  for (FileTensor& tensor : file_.tensors) {
    uint64_t tensor_end = 0;
    bool overflows = __builtin_add_overflow(tensor.offset, data_begin, &tensor.offset);
    overflows |= __builtin_add_overflow(tensor.offset, tensor.bytes, &tensor_end);
    if (overflows) tensor_end = UINT64_MAX;
    if (tensor_end > bytes_.size() && first_outside == nullptr) first_outside = &tensor;
    end = std::max(end, tensor_end);
  }
  if (first_outside == nullptr) return;

  reader_.part("tensor", first_outside->name);
  ErrorParts parts = {.what = "the tensor reaches past the end of the file",
                      .expected = "a file of at least " + std::to_string(end) + " bytes",
                      .found = std::to_string(bytes_.size()) + " bytes"};
  if (is_cut_short(end - data_begin)) {
    const uint64_t percent = static_cast<uint64_t>(static_cast<double>(bytes_.size()) / static_cast<double>(end) * 100);
    parts.hint = "the download stopped at " + std::to_string(percent) + "%: fetch the file again";
  }
  reader_.fail(std::move(parts), first_outside->offset);
}

// Where the tensors fill the data without gaps, as every writer leaves them, what is missing was once there.
bool Parser::is_cut_short(uint64_t data_bytes) const {
  uint64_t sum = 0;
  uint64_t last_padding = 0;
  for (const FileTensor& tensor : file_.tensors) {
    last_padding = round_up(tensor.bytes, alignment_) - tensor.bytes;
    if (__builtin_add_overflow(sum, tensor.bytes + last_padding, &sum)) return false;
  }
  return sum - last_padding == data_bytes;
}

void Parser::check_overlap() const {
  std::vector<const FileTensor*> by_offset;
  by_offset.reserve(file_.tensors.size());
  for (const FileTensor& tensor : file_.tensors) by_offset.push_back(&tensor);
  std::ranges::sort(by_offset, {}, &FileTensor::offset);
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const FileTensor& before = *by_offset[i - 1];
    const FileTensor& tensor = *by_offset[i];
    if (before.offset + before.bytes <= tensor.offset) continue;
    throw Error({.what = "two tensors overlap",
                 .where = path_ + ": tensor " + tensor.name + " at byte " + std::to_string(tensor.offset),
                 .found = before.name + " from byte " + std::to_string(before.offset) + " to " +
                          std::to_string(before.offset + before.bytes)});
  }
}

}  // namespace

bool is_gguf(const MappedFile& file) {
  constexpr std::string_view kMagic = "GGUF";
  return file.bytes().size() >= kMagic.size() && std::memcmp(file.bytes().data(), kMagic.data(), kMagic.size()) == 0;
}

GgufFile parse_gguf(const MappedFile& file) { return Parser(file).parse(); }

const FileTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &FileTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace orrery
