#include "base/output_file.h"

#include <csignal>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mapped_file.h"
#include "support/files.h"

using namespace orrery;
using orrery::test::TemporaryFolder;
using orrery::test::write_file;

namespace {

size_t n_files(const TemporaryFolder& folder) {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) n += entry.exists();
  return n;
}

// While it lives, files cannot grow past `bytes`: a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_before_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_before_);
  }

 private:
  rlimit before_ = {};
  void (*handler_before_)(int) = nullptr;
};

}  // namespace

TEST_CASE("OutputFile: appears with commit(), whole") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  {
    OutputFile file(path);
    file.write("abc");
    CHECK(file.size() == 3);
    file.pad_to(8);
    CHECK(file.size() == 8);
    file.pad_to(8);
    file.pad_to(1);
    file.pad_to(0);
    CHECK(file.size() == 8);
    file.write(std::string(3 << 20, 'x'));
    file.write("end");
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  CHECK(read_file(path, 1 << 24) == "abc" + std::string(5, '\0') + std::string(3 << 20, 'x') + "end");
  CHECK(n_files(folder) == 1);
}

TEST_CASE("OutputFile: without commit() nothing is left and nothing is changed") {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  {
    OutputFile file(folder / "file");
    file.write("new");
  }
  CHECK(read_file(folder / "file", 100) == "old");
  CHECK(n_files(folder) == 1);
  OutputFile file(folder / "file");
  file.write("new");
  file.commit();
  CHECK(read_file(folder / "file", 100) == "new");
}

TEST_CASE("OutputFile: a place where nothing can be written") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(OutputFile(folder / "missing/file"), Error);
  CHECK_THROWS_AS(OutputFile("/proc/file"), Error);  // read-only, for root as well
  {
    OutputFile file(folder.path());  // a folder is found out when the file is to take its name
    CHECK_THROWS_AS(file.commit(), Error);
  }
  CHECK(n_files(folder) == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path().string() + ".unfinished." + std::to_string(getpid())));
}

TEST_CASE("OutputFile: a full disk is an error and leaves nothing") {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  {
    const FileSizeLimit limit(100000);
    OutputFile small(folder / "file");
    small.write(std::string(200000, 'x'));  // stays in the buffer
    CHECK_THROWS_AS(small.commit(), Error);
    OutputFile large(folder / "other");
    CHECK_THROWS_WITH_AS(large.write(std::string(2 << 20, 'x')), doctest::Contains("cannot write the file"), Error);
  }
  CHECK(read_file(folder / "file", 100) == "old");
  CHECK(n_files(folder) == 1);
}

TEST_CASE("OutputFile: what is no regular file is written to as it is") {
  struct stat status = {};
  {
    OutputFile file("/dev/null");
    file.write("text");
    file.commit();
  }
  REQUIRE(stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
  OutputFile file("/dev/full");
  file.write("text");
  CHECK_THROWS_WITH_AS(file.commit(), doctest::Contains("No space left on device"), Error);
}
