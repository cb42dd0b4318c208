// Reads a file's bytes front to back. Every number that comes from the file is hostile until it has been compared with
// the bytes that are left: nothing here reads past the end, and nothing here allocates.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace orrery {

static_assert(std::endian::native == std::endian::little, "files are read as they lie in memory: little-endian");

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  uint64_t offset() const { return offset_; }
  uint64_t left() const { return bytes_.size() - offset_; }

  // What is being read, for messages: part("tensor", "blk.0.attn_q.weight"). `kind` and `name` must outlive it.
  void part(const char* kind, std::string_view name = {}) {
    part_kind_ = kind;
    part_name_ = name;
  }

  // All of these throw Error when fewer bytes are left than they need.
  template <class T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(uint64_t count) {
    if (count > left()) fail_truncated(count);
    const auto taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }
  std::string_view text(uint64_t length) {
    const auto taken = take(length);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // Throws Error unless `count` things of at least `size` bytes each can still come.
  void require(uint64_t count, uint64_t size) const {
    if (count > left() / size) fail_truncated(count, size);
  }

  // Throws Error with file, part and byte offset filled in.
  [[noreturn]] void fail(ErrorParts parts, uint64_t at) const;

 private:
  [[noreturn]] void fail_truncated(uint64_t count, uint64_t size = 1) const;

  std::span<const std::byte> bytes_;
  std::string path_;
  uint64_t offset_ = 0;
  const char* part_kind_ = "";
  std::string_view part_name_;
};

// For messages: a name from a file, cut where it is absurdly long.
std::string short_name(std::string_view name);

}  // namespace orrery
