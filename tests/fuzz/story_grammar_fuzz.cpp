// Grammars of the story world: read, or refused with a line.
#include "fuzz/fuzz.h"
#include "learn/story_grammar.h"

using namespace orrery;
using namespace orrery::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  value_or_error([&] { read_story_grammar(text_of(data, size), "fuzz"); });
  return 0;
}
