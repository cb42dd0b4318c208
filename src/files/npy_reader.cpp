#include "files/npy_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/mapped_file.h"
#include "files/byte_reader.h"

namespace orrery {
namespace {

// The header is a dictionary as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  // Values as they stand there, without quotes.
  std::map<std::string, std::string> read() {
    std::map<std::string, std::string> values;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (!values.emplace(key, value()).second) fail("the key " + short_name(key) + " twice");
      if (accept('}')) break;
      expect(',');
    }
    return values;
  }

  [[noreturn]] void fail(const std::string& found) const {
    throw Error({.what = "the header of the .npy file is broken",
                 .where = path_,
                 .expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
                 .found = printable(found)});
  }

 private:
  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("'" + std::string(text_.substr(at_, 20)) + "' where " + c + " should be");
  }
  std::string until(std::string_view ends) {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(ends, at_), text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::string text = until(std::string_view(&quote, 1));
    expect(quote);
    return text;
  }
  std::string value() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return quoted();
    if (!accept('(')) return until(",} \n");
    const std::string list = until(")");
    expect(')');
    return list;
  }
};

std::vector<int64_t> parse_shape(const std::string& list, const HeaderReader& header) {
  std::vector<int64_t> shape;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (true) {
    while (at != end && (*at == ' ' || *at == ',')) ++at;
    if (at == end) return shape;
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0 || shape.size() == 32) header.fail("the shape (" + short_name(list) + ")");
    shape.push_back(size);
    at = next;
  }
}

std::optional<DType> dtype_of(const std::string& descr) {
  if (descr == "<f2") return DType::F16;
  if (descr == "<f4") return DType::F32;
  if (descr == "<f8") return DType::F64;
  return std::nullopt;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  const MappedFile file(path);
  ByteReader reader(file.bytes(), path);
  if (reader.left() < 10 || reader.text(6) != "\x93NUMPY") {
    throw Error({.what = "this is not a .npy file",
                 .where = path,
                 .expected = "its first bytes \\x93NUMPY",
                 .hint = "numpy.save writes one"});
  }
  const int version = reader.read<uint8_t>();
  reader.take(1);
  reader.part("header");
  const uint64_t length = version == 1 ? reader.read<uint16_t>() : reader.read<uint32_t>();
  HeaderReader header(reader.text(length), path);
  auto values = header.read();
  for (const char* key : {"descr", "fortran_order", "shape"}) {
    if (!values.contains(key)) header.fail(std::string("no ") + key);
  }
  const std::optional<DType> dtype = dtype_of(values["descr"]);
  if (!dtype || values["fortran_order"] != "False" || version > 3) {
    throw Error({.what = "this kind of array cannot be used",
                 .where = path,
                 .expected = "little-endian floating point (<f2, <f4, <f8) in C's order",
                 .found = printable(short_name(values["descr"])) +
                          (values["fortran_order"] == "False" ? "" : " in Fortran's order"),
                 .hint = "numpy.ascontiguousarray(x, numpy.float32) makes such an array"});
  }
  NpyArray array{*dtype, parse_shape(values["shape"], header), {}};
  const uint64_t element_bytes = info(*dtype).block_bytes;
  uint64_t n = std::ranges::find(array.shape, 0) == array.shape.end() ? 1 : 0;
  for (const int64_t size : array.shape) {
    if (n == 0) break;
    reader.require(static_cast<uint64_t>(size), n * element_bytes);  // so their product cannot overflow
    n *= static_cast<uint64_t>(size);
  }
  reader.part("data");
  const auto data = reader.take(n * element_bytes);
  if (reader.left() > 0) {
    reader.fail({.what = "bytes follow the array", .found = std::to_string(reader.left()) + " bytes"}, reader.offset());
  }
  array.data.assign(data.begin(), data.end());
  return array;
}

}  // namespace orrery
