// What the fuzz targets share. Each target is one file: libFuzzer (https://llvm.org/docs/LibFuzzer.html) calls
// LLVMFuzzerTestOneInput with bytes that it makes up, guided by which branches they reach. Whatever the bytes are, a
// reader must give a value or throw Error: everything else ends the program, and libFuzzer keeps the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/error.h"
#include "files/checkpoint.h"
#include "support/files.h"

namespace orrery::test {

// Between the files of an input that stands for several.
constexpr std::string_view kCut =
    "\xFF\xFE"
    "cut\n";

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// `n` pieces; what is missing is "".
inline std::vector<std::string_view> pieces_of(std::string_view text, size_t n) {
  std::vector<std::string_view> pieces;
  while (pieces.size() + 1 < n) {
    const size_t cut = text.find(kCut);
    pieces.push_back(text.substr(0, cut));
    text.remove_prefix(cut == std::string_view::npos ? text.size() : cut + kCut.size());
  }
  pieces.push_back(text);
  return pieces;
}

// A folder of this process, in memory where the system has such a place. It goes with the process.
inline const std::string& scratch_folder() {
  struct Folder {
    Folder() {
      std::error_code ignored;
      const bool has_memory = std::filesystem::is_directory("/dev/shm", ignored);
      name = (has_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
             ("orrery-fuzz-" + std::to_string(getpid()));
      std::filesystem::create_directories(name);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(name, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string name;
  };
  static const Folder folder;
  return folder.name;
}

// A property that does not hold ends the program as a crash does.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Calls `call`; an Error must be one line that a person can read.
template <class Call>
void value_or_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(!message.empty() && message.size() < 20'000, "a message is neither empty nor endless");
    for (const char c : message) require(static_cast<unsigned char>(c) >= 0x20, "a message has no control characters");
  }
}

// Loads a model in both ways and reads what it promises: the ends of all weights, every piece.
inline void load_and_use(const std::string& path) {
  for (const bool needs_weights : {true, false}) {
    value_or_error([&] {
      const Checkpoint checkpoint =
          load_checkpoint(path, {.needs_tokenizer = needs_weights, .needs_weights = needs_weights});
      int sum = 0;
      for (const auto& [name, weight] : checkpoint.weights) {
        sum += std::to_integer<int>(weight.data[0]) + std::to_integer<int>(weight.data[n_bytes(weight) - 1]);
      }
      for (const std::string_view piece : checkpoint.vocabulary.pieces) {
        for (const char c : piece) sum += c;
      }
      [[maybe_unused]] volatile int sink = sum;  // so that the compiler keeps the reads
      if (checkpoint.vocabulary.empty()) return;
      const auto tokenizer = make_tokenizer(checkpoint.vocabulary, path);
      const auto ids = tokenizer->encode(" ab\n\xE4\xB8\xAD<s>", {.parse_special = true});
      tokenizer->decode(ids, true);
    });
  }
}

}  // namespace orrery::test
