#include "base/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

// g++ and clang++ each say it in their own way.
#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_ADDRESS_SANITIZER
#endif
#endif
#ifdef ORRERY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace orrery {
namespace {

constexpr size_t kMostFromDevice = 1 << 20;  // a terminal is one, and nobody types more

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path, int flags = 0)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    if (fd_ < 0) throw Error({.what = std::string("cannot open the file: ") + std::strerror(errno), .where = path});
  }
  ~FileDescriptor() { close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A map ends with a whole page. In a build with the address sanitizer, reading what lies between the end of the file
// and the end of its last page is an error, as it is behind the end of an array.
void forbid_padding([[maybe_unused]] std::span<const std::byte> bytes, [[maybe_unused]] bool forbid) {
#ifdef ORRERY_ADDRESS_SANITIZER
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* end = bytes.data() + bytes.size();
  const size_t padding = (page - bytes.size() % page) % page;
  if (forbid) {
    __asan_poison_memory_region(end, padding);
  } else {
    __asan_unpoison_memory_region(end, padding);
  }
#endif
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const FileDescriptor file(path, O_NONBLOCK);  // a named pipe would let us wait for ever
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) {
    throw Error({.what = std::string("cannot read the file: ") + std::strerror(errno), .where = path});
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error({.what = "this is not a regular file", .where = path, .hint = "give the path of a model file"});
  }
  if (status.st_size == 0) {
    throw Error({.what = "the file is empty", .where = path, .hint = "the download probably failed"});
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) {
    throw Error({.what = std::string("cannot map the file: ") + std::strerror(errno), .where = path});
  }
  bytes_ = {static_cast<const std::byte*>(address), size};
  forbid_padding(bytes_, true);
}

MappedFile::~MappedFile() {
  forbid_padding(bytes_, false);
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_file(const std::string& path, size_t limit) {
  // Standard input is read as it is: it may be a socket, which cannot be opened as /dev/stdin.
  std::optional<FileDescriptor> file;
  if (path != "-") file.emplace(path);
  const int fd = file ? file->get() : STDIN_FILENO;
  const std::string where = file ? path : "standard input";
  struct stat status = {};
  // /dev/zero would go on until the limit of a large text is reached.
  if (fstat(fd, &status) == 0 && S_ISCHR(status.st_mode)) limit = std::min(limit, kMostFromDevice);
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error({.what = std::string("cannot read: ") + std::strerror(errno), .where = where});
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > limit) {
      throw Error({.what = "there is too much of it",
                   .where = where,
                   .expected = "at most " + std::to_string(limit) + " bytes"});
    }
  }
}

}  // namespace orrery
