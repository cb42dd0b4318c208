// A file that appears whole or not at all: written beside its place under another name, moved there by commit(). What
// is no regular file (/dev/stdout, a named pipe) is written to as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

class OutputFile {
 public:
  explicit OutputFile(const std::string& path);  // throws Error
  ~OutputFile();                                 // without commit() the unfinished file is removed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);  // throws Error (disk full, ...)
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void pad_to(uint64_t alignment);  // zero bytes up to the next multiple
  uint64_t size() const { return size_; }
  void commit();  // flushes to disk, then renames; throws Error

 private:
  std::string path_;
  std::string unfinished_path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::string buffer_;

  void flush();
  void write_out(std::string_view text);
  void remove_unfinished() const;
  [[noreturn]] void fail(const char* action) const;
};

// Removes what writers of this path have left beside it that were killed in the middle (kill -9, a power cut).
void remove_leftovers(const std::string& path);

}  // namespace orrery
