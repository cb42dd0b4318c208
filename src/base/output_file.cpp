#include "base/output_file.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace orrery {

namespace {

constexpr size_t kBufferSize = 1 << 20;
constexpr std::string_view kUnfinished = ".unfinished.";  // and the number of the process

// /dev/null, /dev/stdout, a named pipe: renaming a file onto it would put the file in its place.
bool is_special(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), unfinished_path_(path) {
  if (!is_special(path)) unfinished_path_ += std::string(kUnfinished) + std::to_string(getpid());
  fd_ = open(unfinished_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create");
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  remove_unfinished();
}

void OutputFile::remove_unfinished() const {
  if (unfinished_path_ != path_) unlink(unfinished_path_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() >= kBufferSize) {  // a whole tensor is not copied
    flush();
    write_out(text);
    return;
  }
  buffer_ += text;
  if (buffer_.size() >= kBufferSize) flush();
}

void OutputFile::pad_to(uint64_t alignment) {
  if (alignment > 1 && size_ % alignment != 0) write(std::string(alignment - size_ % alignment, '\0'));
}

void OutputFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void OutputFile::write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write");
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void OutputFile::commit() {
  flush();
  // EINVAL, EROFS: what is written to has no disk behind it.
  if (fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail("write");
  const bool is_closed = close(std::exchange(fd_, -1)) == 0;
  const bool is_in_place =
      is_closed && (unfinished_path_ == path_ || std::rename(unfinished_path_.c_str(), path_.c_str()) == 0);
  if (is_in_place) return;
  const int code = errno;
  remove_unfinished();
  errno = code;
  fail(is_closed ? "name" : "write");
}

void OutputFile::fail(const char* action) const {
  throw Error({.what = std::string("cannot ") + action + " the file: " + std::strerror(errno), .where = path_});
}

void remove_leftovers(const std::string& path) {
  const std::filesystem::path place(path);
  const std::string beginning = place.filename().string() + std::string(kUnfinished);
  std::error_code ignored;
  const auto folder = place.has_parent_path() ? place.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t writer = 0;
    if (!name.starts_with(beginning)) continue;
    std::from_chars(name.data() + beginning.size(), name.data() + name.size(), writer);
    const bool is_gone = writer > 0 && kill(writer, 0) != 0 && errno == ESRCH;
    if (is_gone) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace orrery
