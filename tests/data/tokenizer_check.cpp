// Checks on real vocabularies and texts; ORRERY_DATA is the folder they are in.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/mapped_file.h"
#include "files/checkpoint.h"
#include "text/tokenizer.h"

using namespace orrery;

namespace {

std::string data_path(const std::string& name) {
  const char* folder = std::getenv("ORRERY_DATA");
  REQUIRE_MESSAGE(folder != nullptr, "ORRERY_DATA must name the folder of the public data");
  return std::string(folder) + "/" + name;
}

std::string data_text(const std::string& name) { return read_file(data_path(name), 1 << 26); }

struct Loaded {
  Checkpoint checkpoint;
  std::unique_ptr<Tokenizer> tokenizer;
};

Loaded load_tokenizer(const std::string& name) {
  LoadOptions options;
  options.needs_weights = false;
  Loaded loaded = {load_checkpoint(data_path(name), options), nullptr};
  loaded.tokenizer = make_tokenizer(loaded.checkpoint.vocabulary, name);
  return loaded;
}

// What stands between the marks; n marks give n + 1 texts.
std::vector<std::string> split(const std::string& text, std::string_view mark) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find(mark, begin)) != std::string::npos; begin = end + mark.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<TokenId> ids_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<TokenId> ids;
  for (TokenId id; words >> id;) ids.push_back(id);
  return ids;
}

}  // namespace

TEST_CASE("Phi-3: the ids of llama.cpp's 47 test strings") {
  const Loaded phi = load_tokenizer("ggml-vocab/ggml-vocab-phi-3.gguf");
  const std::vector<std::string> strings = split(data_text("ggml-vocab/strings.inp"), "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = split(data_text("ggml-vocab/ggml-vocab-phi-3.gguf.out"), "\n");
  REQUIRE(strings.size() == 47);
  REQUIRE(lines.size() == strings.size());
  for (size_t i = 0; i < strings.size(); ++i) {
    CAPTURE(strings[i]);
    CHECK(phi.tokenizer->encode(strings[i], {.bos = false}) == ids_of(lines[i]));
    CHECK(phi.tokenizer->decode(ids_of(lines[i])) == strings[i]);
  }
}

TEST_CASE("Phi-3: 24 languages go through encode and decode unchanged") {
  const Loaded phi = load_tokenizer("ggml-vocab/ggml-vocab-phi-3.gguf");
  std::vector<std::string> files;
  const std::filesystem::path folder = data_path("udhr");
  REQUIRE_MESSAGE(std::filesystem::is_directory(folder), folder.string(), " is missing");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() == 24);
  for (const std::string& file : files) {
    CAPTURE(file);
    const std::string text = data_text("udhr/" + file);
    CHECK(phi.tokenizer->decode(phi.tokenizer->encode(text)) == text);
  }
}
