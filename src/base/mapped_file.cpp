#include "base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace orrery {
namespace {

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
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

std::string read_file(const std::string& path, size_t limit) {
  // Standard input is read as it is: it may be a socket, which cannot be opened as /dev/stdin.
  std::optional<FileDescriptor> file;
  if (path != "-") file.emplace(path);
  const int fd = file ? file->get() : STDIN_FILENO;
  const std::string where = file ? path : "standard input";
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
