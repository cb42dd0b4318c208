// Byte-level BPE: any bytes as text, cut in each of the ways that a GGUF file can name (the first byte chooses).
#include "fuzz/encode_fuzz.h"
#include "text/byte_level_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Tokenizers {
  std::vector<std::unique_ptr<ByteLevelBuilder>> builders;
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  std::vector<bool> normalises;
  Tokenizers() {
    for (const PreTokenization& way : known_pre_tokenizations()) {
      auto builder = std::make_unique<ByteLevelBuilder>();
      for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{{"a", "a"},
                                                                                        {"a", "b"},
                                                                                        {"aa", "aa"},
                                                                                        {" ", "a"},
                                                                                        {" ", " "},
                                                                                        {"\xE4", "\xB8"},
                                                                                        {"\xE4\xB8", "\xAD"},
                                                                                        {"1", "2"},
                                                                                        {"'", "s"},
                                                                                        {"\n", "\n"}}) {
        builder->merge(left, right);
      }
      builder->add("<added>", PieceKind::user_defined);
      builder->add("<s>", PieceKind::control);
      builder->vocabulary().pre_tokenization = way;
      tokenizers.push_back(builder->tokenizer());
      normalises.push_back(way.nfc);
      builders.push_back(std::move(builder));
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizers all;
  if (size == 0) return 0;
  const size_t chosen = data[0] % all.tokenizers.size();
  const Tokenizer& tokenizer = *all.tokenizers[chosen];
  const std::string_view text = text_of(data + 1, size - 1);
  value_or_error([&] {
    if (all.normalises[chosen]) {
      // What comes back is composed already: encoding it again changes nothing.
      const std::string once = tokenizer.decode(tokenizer.encode(text, {.bos = false}));
      check_round_trip(tokenizer, once);
    } else {
      check_round_trip(tokenizer, text);
    }
  });
  return 0;
}
