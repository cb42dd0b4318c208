#include "files/byte_reader.h"

namespace orrery {

void ByteReader::fail(ErrorParts parts, uint64_t at) const {
  parts.where = path_ + ": ";
  if (*part_kind_ != '\0') parts.where += part_kind_ + std::string(" ");
  if (!part_name_.empty()) parts.where += short_name(part_name_) + " ";
  parts.where += "at byte " + std::to_string(at);
  throw Error(std::move(parts));
}

void ByteReader::fail_truncated(uint64_t count, uint64_t size) const {
  std::string expected = std::to_string(count);
  expected += size == 1 ? " more bytes" : " entries of at least " + std::to_string(size) + " bytes";
  fail({.what = "the file ends too early",
        .expected = expected,
        .found = std::to_string(left()) + " bytes up to its end",
        .hint = "it is damaged or its download was cut short: fetch it again"},
       offset_);
}

std::string short_name(std::string_view name) {
  constexpr size_t kLongest = 80;
  if (name.size() <= kLongest) return std::string(name);
  return std::string(name.substr(0, kLongest)) + "...";
}

}  // namespace orrery
