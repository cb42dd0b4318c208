#include "base/mapped_file.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using orrery::test::TemporaryFolder;
using orrery::test::write_file;

namespace {

std::string error_of_mapping(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("MappedFile: the bytes of a file") {
  const TemporaryFolder folder;
  const std::string content("a\0\xFF\n", 4);
  write_file(folder / "file", content);
  const MappedFile file(folder / "file");
  CHECK(file.path() == folder / "file");
  CHECK(std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()) == content);
}

TEST_CASE("MappedFile: what is no file with something in it is an error that says so") {
  const TemporaryFolder folder;
  CHECK(contains(error_of_mapping(folder / "missing"), "cannot open the file: No such file or directory"));
  CHECK(contains(error_of_mapping(folder / "missing"), "missing: "));
  CHECK(contains(error_of_mapping(folder.path()), "not a regular file"));
  CHECK(contains(error_of_mapping("/dev/null"), "not a regular file"));
  write_file(folder / "empty", "");
  CHECK(contains(error_of_mapping(folder / "empty"), "the file is empty"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of_mapping(folder / "pipe"), "not a regular file"));  // and does not wait for a writer
}

TEST_CASE("MappedFile: more than 4 GiB") {
  const TemporaryFolder folder;
  write_file(folder / "sparse", "begin");
  const uint64_t size = (uint64_t{5} << 30) + 3;
  std::filesystem::resize_file(folder / "sparse", size);  // a hole: it takes no room on the disk
  const int fd = open((folder / "sparse").c_str(), O_WRONLY);
  REQUIRE(pwrite(fd, "end", 3, static_cast<off_t>(size - 3)) == 3);
  close(fd);
  const MappedFile file(folder / "sparse");
  REQUIRE(file.bytes().size() == size);
  CHECK(file.bytes()[0] == std::byte{'b'});
  CHECK(file.bytes()[uint64_t{1} << 32] == std::byte{0});
  CHECK(file.bytes()[size - 1] == std::byte{'d'});
}

TEST_CASE("read_file") {
  const TemporaryFolder folder;
  const std::string content = std::string(70000, 'x') + std::string("\0\r\n", 3);
  write_file(folder / "file", content);
  write_file(folder / "empty", "");
  CHECK(read_file(folder / "file", content.size()) == content);
  CHECK(read_file(folder / "empty", 0).empty());
  CHECK_THROWS_AS(read_file(folder / "file", content.size() - 1), Error);
  CHECK_THROWS_AS(read_file(folder / "missing", 10), Error);
  CHECK_THROWS_AS(read_file(folder.path(), 10), Error);
  CHECK(read_file("/dev/null", size_t{1} << 40).empty());
  CHECK_ERROR(read_file("/dev/zero", size_t{1} << 40), "/dev/zero", "too much", "1048576 bytes");
}

TEST_CASE("read_file: standard input") {
  const TemporaryFolder folder;
  write_file(folder / "file", "from standard input");
  const int before = dup(STDIN_FILENO);  // -1 where it is closed
  const int fd = open((folder / "file").c_str(), O_RDONLY);
  if (fd != STDIN_FILENO) {
    dup2(fd, STDIN_FILENO);
    close(fd);
  }
  CHECK(read_file("-", 100) == "from standard input");
  CHECK(read_file("-", 100).empty());  // at its end, and not closed
  close(STDIN_FILENO);
  if (before >= 0) {
    dup2(before, STDIN_FILENO);
    close(before);
  }
}
