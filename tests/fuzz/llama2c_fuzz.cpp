// llama2.c: a model of any version and the tokenizer.bin beside it.
#include "fuzz/fuzz.h"

using namespace orrery::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto files = pieces_of(text_of(data, size), 2);
  write_file(scratch_folder() + "/tokenizer.bin", files[1]);
  load_and_use(write_file(scratch_folder() + "/m.bin", files[0]));
  return 0;
}
