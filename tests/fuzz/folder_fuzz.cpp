// A Hugging Face folder: JSON files, safetensors, an index and its parts.
#include "fuzz/fuzz.h"

using namespace orrery::test;

namespace {

constexpr const char* kNames[] = {"config.json",           "tokenizer.json",         "model.safetensors",
                                  "tokenizer_config.json", "generation_config.json", "model.safetensors.index.json",
                                  "a.safetensors",         "b.safetensors"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto files = pieces_of(text_of(data, size), std::size(kNames));
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string path = scratch_folder() + "/" + kNames[i];
    if (files[i].empty()) {
      std::filesystem::remove(path);
    } else {
      write_file(path, files[i]);
    }
  }
  load_and_use(scratch_folder());
  return 0;
}
