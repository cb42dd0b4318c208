// GGUF: metadata, tensor list, vocabulary, config.
#include "fuzz/fuzz.h"

using namespace orrery::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Without its first four bytes it is none: these are not worth guessing.
  load_and_use(write_file(scratch_folder() + "/m.gguf", "GGUF" + std::string(text_of(data, size))));
  return 0;
}
