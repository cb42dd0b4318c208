// tokenizer.json: what reads must encode and come back, or be refused.
#include "files/tokenizer_json.h"
#include "fuzz/fuzz.h"

using namespace orrery;
using namespace orrery::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = write_file(scratch_folder() + "/tokenizer.json", text_of(data, size));
  value_or_error([&] {
    const auto tokenizer = make_tokenizer(read_tokenizer_json(path), path);
    tokenizer->decode(tokenizer->encode(" ab \xE4\xB8\xAD\xFF<s>", {.parse_special = true}), true);
    tokenizer->explain("ab c");
  });
  return 0;
}
