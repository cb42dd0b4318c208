// The tokenizer of a GGUF file (docs/gguf.md, "Tokenizer"). Which kinds can be built is for make_tokenizer to say.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "files/gguf.h"
#include "files/pre_tokenizations.h"

namespace orrery {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kKinds = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kPreTokenizer = "tokenizer.ggml.pre";

class Reader {
 public:
  Reader(const GgufMetadata& metadata, Vocabulary& vocabulary) : metadata_(metadata), vocabulary_(vocabulary) {}

  void read() {
    vocabulary_.model = metadata_.text("tokenizer.ggml.model").value_or("");
    vocabulary_.pieces = metadata_.texts(kTokens);
    if (vocabulary_.empty()) return;
    if (vocabulary_.pieces.size() > static_cast<size_t>(INT32_MAX)) {
      metadata_.fail(kTokens, {.what = "there are more tokens than ids"});
    }
    read_scores();
    read_kinds();
    read_special_ids();
    if (vocabulary_.model == "gpt2") read_merges();
    // SentencePiece vocabularies are used with BOS and a space in front unless the file says otherwise.
    const bool is_sentencepiece = vocabulary_.model == "llama";
    vocabulary_.add_bos =
        metadata_.flag_or("tokenizer.ggml.add_bos_token", is_sentencepiece || vocabulary_.pre_tokenization.add_bos);
    vocabulary_.add_eos = metadata_.flag_or("tokenizer.ggml.add_eos_token", false);
    vocabulary_.add_space_prefix = metadata_.flag_or("tokenizer.ggml.add_space_prefix", is_sentencepiece);
  }

 private:
  void check_length(const char* key, size_t length) const {
    if (length == vocabulary_.pieces.size()) return;
    metadata_.fail(key, {.what = "the array does not have one element for each token",
                         .expected = std::to_string(vocabulary_.pieces.size()),
                         .found = std::to_string(length)});
  }

  void read_scores() {
    vocabulary_.scores = metadata_.floats(kScores);
    if (metadata_.find(kScores) == nullptr) {
      if (vocabulary_.model == "llama")
        metadata_.fail(kScores, {.what = "a SentencePiece vocabulary needs its scores"});
      vocabulary_.scores.assign(vocabulary_.pieces.size(), 0);
    }
    check_length(kScores, vocabulary_.scores.size());
    if (std::ranges::any_of(vocabulary_.scores, [](float score) { return std::isnan(score); })) {
      metadata_.fail(kScores, {.what = "the score of a token is not a number"});
    }
  }

  void read_kinds() {
    if (metadata_.find(kKinds) == nullptr) {
      vocabulary_.kinds.assign(vocabulary_.pieces.size(), PieceKind::normal);
      return;
    }
    const std::vector<int32_t> kinds = metadata_.integers(kKinds);
    check_length(kKinds, kinds.size());
    vocabulary_.kinds.reserve(kinds.size());
    for (size_t id = 0; id < kinds.size(); ++id) {
      if (kinds[id] < static_cast<int>(PieceKind::normal) || kinds[id] > static_cast<int>(PieceKind::byte)) {
        metadata_.fail(kKinds, {.what = "token " + std::to_string(id) + " has a type that is not known",
                                .expected = "1 to 6",
                                .found = std::to_string(kinds[id])});
      }
      vocabulary_.kinds.push_back(static_cast<PieceKind>(kinds[id]));
    }
  }

  // The tokenizer of a file without tokenizer.ggml.pre is refused when it is to be made.
  void read_merges() {
    vocabulary_.merges = metadata_.texts(kMerges);
    vocabulary_.pre_tokenization = pre_tokenization_named(metadata_.text(kPreTokenizer).value_or(""));
    if (metadata_.find(kPreTokenizer) != nullptr && metadata_.find(kMerges) == nullptr) {
      metadata_.fail(kPreTokenizer, {.what = "a byte-level BPE vocabulary needs its merges", .expected = kMerges});
    }
  }

  TokenId special_id(const char* key) const {
    const auto id = metadata_.integer(key);
    if (!id) return kNoToken;
    if (*id < 0 || *id >= static_cast<int64_t>(vocabulary_.pieces.size())) {
      metadata_.fail(key, {.what = "the id is not in the vocabulary",
                           .expected = "0 to " + std::to_string(vocabulary_.pieces.size() - 1),
                           .found = std::to_string(*id)});
    }
    return static_cast<TokenId>(*id);
  }

  void read_special_ids() {
    vocabulary_.bos = special_id("tokenizer.ggml.bos_token_id");
    vocabulary_.unknown = special_id("tokenizer.ggml.unknown_token_id");
    for (const char* key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      const TokenId id = special_id(key);
      if (id != kNoToken && std::ranges::count(vocabulary_.end_tokens, id) == 0) vocabulary_.end_tokens.push_back(id);
    }
    if (vocabulary_.model == "llama") fill_in_llama_ids();
  }

  // Files that leave them out mean the ids of Llama's own vocabulary. Taken only where the pieces bear it out.
  void fill_in_llama_ids() {
    const auto is = [&](size_t id, PieceKind kind) {
      return id < vocabulary_.kinds.size() && vocabulary_.kinds[id] == kind;
    };
    if (vocabulary_.unknown == kNoToken && is(0, PieceKind::unknown)) vocabulary_.unknown = 0;
    if (vocabulary_.bos == kNoToken && is(1, PieceKind::control)) vocabulary_.bos = 1;
    if (vocabulary_.end_tokens.empty() && is(2, PieceKind::control)) vocabulary_.end_tokens.push_back(2);
  }

  const GgufMetadata& metadata_;
  Vocabulary& vocabulary_;
};

}  // namespace

Vocabulary gguf_vocabulary(const GgufMetadata& metadata) {
  Vocabulary vocabulary;
  Reader(metadata, vocabulary).read();
  return vocabulary;
}

}  // namespace orrery
