// orrery train-tokenizer: learn how to cut text.
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "cli/session.h"
#include "files/tokenizer_json.h"
#include "learn/bpe_trainer.h"
#include "learn/corpus.h"

namespace orrery::cli {

int train_tokenizer(const TrainTokenizerOptions& options) {
  const Corpus corpus = read_corpus(options.data, {.held_out = 0});
  const auto size = static_cast<size_t>(options.vocabulary_size);
  const Vocabulary vocabulary =
      train_bpe(corpus.training,
                {.vocabulary_size = size, .special_tokens = options.special_tokens, .han_apart = options.han_apart});
  write_tokenizer_json(options.output, vocabulary);
  if (vocabulary.pieces.size() < size) {
    std::fprintf(stderr, "note: no pair is left that could be merged, so there are fewer pieces than asked for\n");
  }

  const auto tokenizer = make_tokenizer(vocabulary, options.output);
  size_t tokens = 0;
  for (const std::string_view document : corpus.training) tokens += tokenizer->encode(document, {.bos = false}).size();
  print(printable(options.output) + ": " + with_separators(static_cast<int64_t>(vocabulary.pieces.size())) +
        " pieces, " + with_separators(static_cast<int64_t>(vocabulary.merges.size())) + " merges; the text is " +
        with_separators(static_cast<int64_t>(tokens)) + " tokens of " +
        fixed(static_cast<double>(corpus.bytes()) / static_cast<double>(tokens), 2) + " bytes\n");
  return kDone;
}

}  // namespace orrery::cli
