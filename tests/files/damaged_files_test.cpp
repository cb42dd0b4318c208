// Every prefix of a model file, and files with one byte changed, either load or end in one Error: no crash, no endless
// loop, and (under the sanitizers) no read outside the file.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "files/checkpoint.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// A file that is damaged in place, again and again.
class Patient {
 public:
  Patient(const std::string& path, const std::string& bytes) : bytes_(bytes), fd_(open(path.c_str(), O_RDWR)) {
    REQUIRE(fd_ >= 0);
  }
  ~Patient() { close(fd_); }
  void cut_to(size_t size) { REQUIRE(ftruncate(fd_, static_cast<off_t>(size)) == 0); }
  void set(size_t at, char byte) { REQUIRE(pwrite(fd_, &byte, 1, static_cast<off_t>(at)) == 1); }
  void heal(size_t at) { set(at, bytes_[at]); }

 private:
  const std::string& bytes_;
  int fd_;
};

// Looks at everything a load promises. Returns whether it loaded.
bool load(const std::string& path) {
  try {
    const Checkpoint checkpoint = load_checkpoint(path);
    int touched = 0;
    for (const auto& [name, weight] : checkpoint.weights) {
      touched += std::to_integer<int>(weight.data[0]) + std::to_integer<int>(weight.data[n_bytes(weight) - 1]);
    }
    for (const std::string_view piece : checkpoint.vocabulary.pieces) {
      for (const char c : piece) touched += c;
    }
    [[maybe_unused]] volatile int sink = touched;  // so that the compiler keeps the reads
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.empty() || message.size() > 1000 || message.find('\n') != std::string::npos) FAIL(message);
    return false;
  }
}

void change_every_byte(const std::string& path, size_t first, size_t end, size_t step = 1) {
  const std::string bytes = file_bytes(path);
  Patient patient(path, bytes);
  for (size_t at = first; at < end; at += step) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      patient.set(at, static_cast<char>(bytes[at] ^ change));
      load(path);
    }
    patient.heal(at);
  }
  CHECK(load(path));
}

}  // namespace

TEST_CASE("damaged files: every prefix of a GGUF file is refused") {
  const TemporaryFolder folder;
  const std::string whole = file_bytes(data_file("tiny-models/gguf/valid_base.gguf"));
  const std::string path = write_file(folder / "m.gguf", whole);
  REQUIRE(load(path));
  Patient patient(path, whole);
  constexpr size_t kHeader = 9216;  // where the data begins
  int loaded = 0;
  for (size_t size = whole.size() - 1; size > kHeader; size -= std::min<size_t>(97, size - kHeader)) {
    patient.cut_to(size);
    loaded += load(path);
  }
  for (size_t size = kHeader; size > 0; --size) {
    patient.cut_to(size - 1);
    loaded += load(path);
  }
  CHECK(loaded == 0);
}

TEST_CASE("damaged files: a GGUF file with one byte changed") {
  const TemporaryFolder folder;
  const std::string whole = file_bytes(data_file("tiny-models/gguf/valid_base.gguf"));
  const std::string path = write_file(folder / "m.gguf", whole);
  change_every_byte(path, 0, 700);        // header, hyper-parameters
  change_every_byte(path, 700, 7900, 7);  // vocabulary
  change_every_byte(path, 7900, 9216);    // tensor list
}

TEST_CASE("damaged files: llama2.c models and vocabularies") {
  const TemporaryFolder folder;
  const std::string tokenizer = file_bytes(data_file("tiny-models/l2c/tokenizer.bin"));
  const std::string model = file_bytes(data_file("tiny-models/l2c/valid_v0_untied.bin"));
  const std::string tokenizer_path = write_file(folder / "tokenizer.bin", tokenizer);
  const std::string path = write_file(folder / "m.bin", model);
  REQUIRE(load(path));
  change_every_byte(path, 0, 28);
  {
    Patient patient(tokenizer_path, tokenizer);
    for (size_t at = 0; at < tokenizer.size(); ++at) {
      for (const int change : {0x01, 0x80, 0xFF}) {
        patient.set(at, static_cast<char>(tokenizer[at] ^ change));
        load(path);
      }
      patient.heal(at);
    }
    int loaded = 0;
    for (size_t size = tokenizer.size(); size > 0; --size) {
      patient.cut_to(size - 1);
      loaded += load(path);
    }
    CHECK(loaded == 0);
  }
  write_file(folder / "tokenizer.bin", tokenizer);
  REQUIRE(load(path));
  Patient patient(path, model);
  int loaded = 0;
  for (size_t size = model.size() - 1; size > 300; size -= 97) {
    patient.cut_to(size);
    loaded += load(path);
  }
  for (size_t size = 300; size > 0; --size) {
    patient.cut_to(size - 1);
    loaded += load(path);
  }
  CHECK(loaded == 0);
}

TEST_CASE("damaged files: a folder of which one file is cut or changed at any byte of its texts") {
  const TemporaryFolder folder;
  const std::string whole = data_file("tiny-models/st/valid_base");
  std::filesystem::copy(whole, folder.path(), std::filesystem::copy_options::recursive);
  const std::string model = folder.path().string();
  REQUIRE(load(model));
  // Of model.safetensors, the length and the header; what follows are weights.
  for (const auto& [name, most] :
       {std::pair<const char*, size_t>{"config.json", 1 << 20}, {"model.safetensors", 600}, {"tokenizer.json", 3000}}) {
    CAPTURE(name);
    const std::string bytes = file_bytes(whole + "/" + name);
    const size_t end = std::min(most, bytes.size());
    Patient patient(folder / name, bytes);
    for (size_t at = 0; at < end; at += at < 300 ? 1 : 7) {
      for (const int change : {0x01, 0x80, 0xFF}) {
        patient.set(at, static_cast<char>(bytes[at] ^ change));
        load(model);
      }
      patient.heal(at);
    }
    REQUIRE(load(model));
    int loaded = 0;
    const size_t last = bytes.find_last_not_of(" \n");  // white space at the end of a JSON file is not missed
    for (size_t size = std::min(end, last + 1); size > 0; size -= size > 300 ? std::min<size_t>(7, size) : 1) {
      patient.cut_to(size - 1);
      loaded += load(model);
    }
    patient.cut_to(0);
    loaded += load(model);
    CHECK(loaded == 0);
    std::filesystem::copy_file(whole + "/" + name, folder / name, std::filesystem::copy_options::overwrite_existing);
    REQUIRE(load(model));
  }
}
