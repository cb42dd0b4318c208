// A file's bytes in memory, read-only, for as long as the object lives. Regular files are mapped, so that opening a
// model of many gigabytes takes no time and weights are read from disk when they are first used.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace orrery {

class MappedFile {
 public:
  // Throws Error when the file cannot be opened, is a folder or is empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

// The whole of a small file, or of standard input where `path` is "-". Throws Error, also above `limit` bytes, and
// above 1 MiB from a device, which may never end.
std::string read_file(const std::string& path, size_t limit);

}  // namespace orrery
