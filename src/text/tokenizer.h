// From text to token ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

using TokenId = int32_t;
constexpr TokenId kNoToken = -1;

enum class PieceKind : uint8_t {  // the values of GGUF's tokenizer.ggml.token_type
  normal = 1,
  unknown = 2,
  control = 3,       // <s>, </s>: never made from text, prints nothing
  user_defined = 4,  // added tokens: found in text as they stand, before any merge
  unused = 5,
  byte = 6,  // <0x0A>
};

// How byte-level BPE cuts a text before any merge (text/pre_tokenizer.h).
struct PreTokenization {
  std::string name;                   // GGUF's (files/pre_tokenizations.h), "" where it has none
  std::vector<std::string> patterns;  // empty where the name is not known: no tokenizer can be made then
  bool nfc = false;                   // compose accents first: e and U+0301 become U+00E9
  bool ignore_merges = false;         // a pre-token that is a piece stays one, whatever the merges would do
  bool add_bos = false;               // what a GGUF file with this name wants that does not say
};

// What a file says about its tokenizer, before anything is built from it. The pieces of SentencePiece write a space as
// U+2581, those of byte-level BPE every byte as a letter (text/byte_level.h). Views point into `storage` or into a file
// that the owner keeps open.
struct Vocabulary {
  // "llama": SentencePiece BPE with scores; "gpt2": byte-level BPE with merges; "" where the file has no tokenizer
  std::string model;
  std::vector<std::string_view> pieces;
  std::vector<float> scores;
  std::vector<PieceKind> kinds;
  std::vector<std::string_view> merges;  // two pieces with a space between, what merges first first
  PreTokenization pre_tokenization;      // byte-level BPE
  TokenId bos = kNoToken;
  TokenId unknown = kNoToken;
  std::vector<TokenId> end_tokens;  // any of them ends a text; the first is EOS
  bool add_bos = true;
  bool add_eos = false;
  bool add_space_prefix = true;
  bool prefixes_once = false;  // that space stands before the text, and not again after each added token in it
  std::shared_ptr<const std::string> storage;

  bool empty() const { return pieces.empty(); }
};

struct EncodeOptions {
  bool bos = true;             // put BOS first, and EOS last, where the file asks for them
  bool parse_special = false;  // take "<s>" in the text as the control token
};

struct MergeStep {                   // one line of `tokenize --steps`
  std::vector<std::string> symbols;  // the text as it is cut after this step
  std::string merged;                // the new symbol, empty where the line is not about a merge
  double score = 0;                  // why it was chosen: highest first; of byte-level BPE minus the merge's rank
  std::string stage;                 // where the line is not about a merge: "characters", "bytes", "pre-tokens"
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Any bytes may be given; what is not UTF-8 goes through byte pieces unchanged. Throws Error where the vocabulary
  // has neither a byte piece nor an unknown token for a character.
  virtual std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;
  // The bytes of one token. Control tokens give "" unless `show_special`. Throws Error for an id out of range.
  virtual std::string piece_bytes(TokenId id, bool show_special = false) const = 0;
  // How encode() arrives at its result, merge by merge. Throws Error for a text so long that nobody would read it.
  virtual std::vector<MergeStep> explain(std::string_view text) const = 0;

  virtual const Vocabulary& vocabulary() const = 0;
  // Whether encode() puts a space before a text (SentencePiece's dummy prefix), which decode() drops again.
  virtual bool adds_space_prefix() const = 0;

  // Text of many ids: decode(encode(text)) == text, but for a vocabulary that normalises text (`nfc`).
  std::string decode(std::span<const TokenId> ids, bool show_special = false) const;
  bool is_end(TokenId id) const;
  // A token that stands in the text as it is (user-defined or control), not made by merges. Throws Error for an id out
  // of range.
  bool is_added(TokenId id) const;

 protected:
  void check_id(TokenId id) const;  // throws Error for an id out of range
};

// From ids to bytes, one after the other. What comes after an added token is encoded like the beginning of a text, with
// a space put before it; so a space is dropped at the beginning and after every added token, unless `prefixes_once`.
class Detokenizer {
 public:
  // `previous` is the token before the first one that will come, kNoToken at the beginning of a text.
  explicit Detokenizer(const Tokenizer& tokenizer, TokenId previous = kNoToken, bool show_special = false);

  std::string next(TokenId id);

 private:
  bool begins_anew_after(TokenId id) const;

  const Tokenizer& tokenizer_;
  bool show_special_;
  bool drops_space_;  // before the next text
};

// The same vocabulary. Throws Error where it contradicts itself: arrays of other lengths, ids out of range.
Vocabulary checked(Vocabulary vocabulary, const std::string& where);

// Builds the tokenizer that the vocabulary asks for. Throws Error for a kind we lack, naming it, and for a vocabulary
// that contradicts itself. `vocabulary` may be large: it is moved in.
std::unique_ptr<Tokenizer> make_tokenizer(Vocabulary vocabulary, const std::string& where);

}  // namespace orrery
