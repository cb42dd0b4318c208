// SentencePiece BPE: any bytes as text. The first byte chooses whether a space is put before it.
#include "fuzz/encode_fuzz.h"
#include "support/vocabulary.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Tokenizers {
  VocabularyBuilder builders[2];
  std::unique_ptr<Tokenizer> tokenizers[2];
  Tokenizers() {
    for (const bool has_prefix : {false, true}) {
      VocabularyBuilder& builder = builders[has_prefix];
      builder.add_bytes();
      float score = 0;
      for (const char* piece : {"\u2581", "a", "b", "c", "\u4E2D", "\u2581a", "aa", "ab", "\u2581ab", "aaaa", "abc",
                                "\u2581\u2581", "\u4E2D\u4E2D", "\xCC\x81", "e\xCC\x81"}) {
        builder.add(piece, --score);
      }
      builder.add("<added>", 0, PieceKind::user_defined);
      builder.add("<added> more", 0, PieceKind::user_defined);
      builder.vocabulary().add_space_prefix = has_prefix;
      tokenizers[has_prefix] = builder.tokenizer();
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizers all;
  if (size == 0) return 0;
  value_or_error([&] { check_round_trip(*all.tokenizers[data[0] % 2], text_of(data + 1, size - 1)); });
  return 0;
}
