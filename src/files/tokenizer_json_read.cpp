#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "files/pre_tokenizations.h"
#include "files/tokenizer_json.h"
#include "files/tokenizer_json_parse.h"
#include "text/added_tokens.h"

namespace orrery {
namespace {

// How much larger than the number of tokens an id may be: some files leave gaps.
constexpr size_t kMaxGaps = 1 << 16;
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

// Makes a vocabulary of what the file says, or refuses it.
class Reader {
 public:
  explicit Reader(const TokenizerJson& file) : file_(file) {}

  // Of a file that is a vocabulary alone.
  Vocabulary read_alone(const PreTokenization& rules, std::span<const AddedToken> added) {
    vocabulary_.model = "gpt2";
    vocabulary_.add_bos = vocabulary_.add_space_prefix = false;
    vocabulary_.pre_tokenization = rules;
    read_pieces();
    for (const AddedToken& token : added) {
      const auto known = ids_.find(token.text);
      if (token.id < 0 && known == ids_.end()) continue;
      add_token(token.text, token.id < 0 ? known->second : token.id,
                token.is_special ? PieceKind::control : PieceKind::user_defined, "added tokens");
    }
    store();
    return std::move(vocabulary_);
  }

  Vocabulary read() {
    is_sentencepiece_ = file_.flag("model/byte_fallback", false);
    vocabulary_.model = is_sentencepiece_ ? "llama" : "gpt2";
    vocabulary_.add_bos = vocabulary_.add_space_prefix = false;
    check_model();
    read_normalizer("normalizer");
    if (file_.has("pre_tokenizer")) read_pre_tokenizer("pre_tokenizer");
    if (!is_sentencepiece_ && !cuts_to_bytes_)
      file_.fail("pre_tokenizer", "this is neither byte-level BPE nor SentencePiece's: it is not about bytes");
    vocabulary_.pre_tokenization.ignore_merges = file_.flag("model/ignore_merges", false);
    vocabulary_.pre_tokenization.name = name_of(vocabulary_.pre_tokenization);
    read_tokens();
    read_post_processor("post_processor");
    return std::move(vocabulary_);
  }

 private:
  std::string type(const std::string& at) const { return file_.text(at + "/type"); }

  // `what` follows the type: "Unigram is not supported".
  [[noreturn]] void refuse(const std::string& at, const std::string& what = "is not supported") const {
    file_.fail(at, (type(at).empty() ? "this" : type(at)) + " " + what);
  }

  void check_model() const {
    const std::string model = file_.text("model/type", "BPE");
    if (model != "BPE") refuse("model");
    for (const char* key : {"model/continuing_subword_prefix", "model/end_of_word_suffix"}) {
      if (!file_.text(key).empty()) file_.fail(key, "marks on pieces are not supported", file_.text(key));
    }
  }

  void read_normalizer(const std::string& at) {
    if (!file_.has(at)) return;
    if (type(at) == "Sequence") {
      file_.for_each(at + "/normalizers", [&](const std::string& step) { read_normalizer(step); });
    } else if (is_sentencepiece_) {
      read_space(at);
    } else if (type(at) == "NFC") {
      vocabulary_.pre_tokenization.nfc = true;
    } else {
      refuse(at);
    }
  }

  // SentencePiece's pieces write a space as U+2581, and one is put before a text or not.
  void read_space(const std::string& at) {
    if (type(at) == "Prepend" && file_.text(at + "/prepend") == kSpace) {
      vocabulary_.add_space_prefix = true;
    } else if (type(at) != "Replace" || file_.text(at + "/pattern/String") != " " ||
               file_.text(at + "/content") != kSpace) {
      refuse(at, "in a SentencePiece vocabulary is not supported");
    } else {
      replaces_spaces_ = true;
    }
  }

  void read_metaspace(const std::string& at) {
    const std::string scheme = file_.text(at + "/prepend_scheme", "always");
    if (type(at) != "Metaspace" || file_.text(at + "/replacement") != kSpace || file_.flag(at + "/split", true) ||
        (scheme != "always" && scheme != "first" && scheme != "never")) {
      refuse(at, "of this sort in a SentencePiece vocabulary is not supported");
    }
    vocabulary_.add_space_prefix = scheme != "never";
    vocabulary_.prefixes_once = scheme == "first";
  }

  void read_pre_tokenizer(const std::string& at) {
    const std::string kind = type(at);
    if (kind == "Sequence") {
      file_.for_each(at + "/pretokenizers", [&](const std::string& step) { read_pre_tokenizer(step); });
      return;
    }
    // Where spaces were replaced before, cutting at spaces cuts nothing (Gemma).
    if (is_sentencepiece_ && kind == "Split" && replaces_spaces_ && file_.text(at + "/pattern/String") == " ") return;
    if (is_sentencepiece_) return read_metaspace(at);
    if (cuts_to_bytes_) refuse(at, "after ByteLevel is not supported");
    std::vector<std::string>& patterns = vocabulary_.pre_tokenization.patterns;
    if (kind == "Split") {
      patterns.push_back(split_pattern(at));
    } else if (kind == "Digits") {
      patterns.push_back(file_.flag(at + "/individual_digits", false) ? "\\p{N}" : "\\p{N}+");
    } else if (kind == "ByteLevel") {
      cuts_to_bytes_ = true;
      if (file_.flag(at + "/add_prefix_space", true)) refuse(at, "with a space before the text is not supported");
      if (file_.flag(at + "/use_regex", true)) patterns.push_back(pre_tokenization_named("gpt-2").patterns.front());
      if (patterns.empty()) patterns.push_back("(?s).+");  // nothing is cut
    } else {
      refuse(at);
    }
  }

  // Matches and what is between them become pre-tokens: "Isolated". A pattern that matches all there is can also be
  // written as one that, inverted, takes away what is between: nothing.
  std::string split_pattern(const std::string& at) const {
    const std::string behavior = file_.text(at + "/behavior");
    const bool inverted = file_.flag(at + "/invert", false);
    if (!(behavior == "Isolated" && !inverted) && !(behavior == "Removed" && inverted)) {
      refuse(at, "with the behavior " + behavior + (inverted ? ", inverted," : "") + " is not supported");
    }
    const std::string pattern = file_.text(at + "/pattern/Regex");
    if (!pattern.empty()) return pattern;
    std::string plain;
    for (const char c : file_.text(at + "/pattern/String")) {
      if (std::string_view("\\^$.[]|()?*+{}-#").find(c) != std::string_view::npos) plain += '\\';
      plain += c;
    }
    if (plain.empty()) file_.fail(at + "/pattern", "the pattern is missing");
    return plain;
  }

  void add_token(const std::string& text, int64_t id, PieceKind kind, const std::string& where) {
    if (id < 0 || static_cast<uint64_t>(id) >= file_.vocabulary.size() + kMaxGaps) {
      file_.fail(where, "the id of a token makes no sense", std::to_string(id));
    }
    const auto known = ids_.emplace(text, id);
    if (known.first->second != id) file_.fail(where, "a token is there with two ids", text);
    const auto slot = static_cast<size_t>(id);
    if (slot >= texts_.size()) texts_.resize(slot + 1);
    if (known.second && !texts_[slot].empty()) file_.fail(where, "two tokens have the same id", std::to_string(id));
    texts_[slot] = text;
    kinds_.resize(texts_.size(), PieceKind::unused);
    kinds_[slot] = kind;
  }

  void read_pieces() {
    for (const auto& [text, id] : file_.vocabulary) {
      const bool is_byte = is_sentencepiece_ && text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
      add_token(text, id, is_byte ? PieceKind::byte : PieceKind::normal, "model/vocab");
    }
  }

  void read_tokens() {
    read_pieces();
    file_.for_each("added_tokens", [&](const std::string& at) {
      for (const char* flag : {"/single_word", "/lstrip", "/rstrip"}) {
        if (file_.flag(at + flag, false)) file_.fail(at + flag, "added tokens of this sort are not supported");
      }
      const std::string text = file_.text(at + "/content");
      PieceKind kind = file_.flag(at + "/special", false) ? PieceKind::control : PieceKind::user_defined;
      // Runs of spaces (Gemma) are added as U+2581, which no text has: merges make them, and they print as spaces.
      const bool is_run =
          kind == PieceKind::user_defined && is_sentencepiece_ && text.find(kSpace) != std::string::npos;
      add_token(text, file_.integer(at + "/id"), is_run ? PieceKind::normal : kind, at);
    });
    const std::string unknown = file_.text("model/unk_token");
    if (!unknown.empty()) {
      vocabulary_.unknown = id_of(unknown, "model/unk_token");
      kinds_[vocabulary_.unknown] = PieceKind::unknown;
    }
    store();
    if (is_sentencepiece_) derive_scores();
  }

  // What was read, as the vocabulary keeps it: views of one text.
  void store() {
    if (texts_.empty()) file_.fail("model/vocab", "the vocabulary is empty");
    auto storage = std::make_shared<std::string>();
    for (const std::string& text : texts_) *storage += text;
    std::vector<std::string_view> merges;
    for (const std::string& merge : file_.merges) {
      if (!makes_added_token(merge)) merges.push_back(merge);
    }
    for (const std::string_view merge : merges) *storage += merge;
    std::string_view rest = *storage;
    const auto next = [&](std::string_view text) {
      const std::string_view view = rest.substr(0, text.size());
      rest.remove_prefix(text.size());
      return view;
    };
    for (const std::string& text : texts_) vocabulary_.pieces.push_back(next(text));
    for (const std::string_view merge : merges) vocabulary_.merges.push_back(next(merge));
    vocabulary_.storage = storage;
    vocabulary_.kinds = std::move(kinds_);
    vocabulary_.scores.assign(vocabulary_.pieces.size(), 0);
  }

  // SentencePiece's added tokens are cut out of the text before anything merges: a merge that makes one is never made.
  bool makes_added_token(const std::string& merge) const {
    if (!is_sentencepiece_) return false;
    const auto made = ids_.find(joined(merge));
    return made != ids_.end() && stands_as_it_is(kinds_[static_cast<size_t>(made->second)]);
  }

  static std::string joined(std::string merge) {
    if (const size_t space = merge.find(' '); space != std::string::npos) merge.erase(space, 1);
    return merge;
  }

  // For files that know scores and no merges: a piece has the rank of the first merge that makes it. Those that no
  // merge makes come last.
  void derive_scores() {
    const size_t n = file_.merges.size();
    for (size_t id = 0; id < texts_.size(); ++id) {
      if (vocabulary_.kinds[id] == PieceKind::normal) vocabulary_.scores[id] = -static_cast<float>(n + id);
    }
    for (size_t rank = n; rank-- > 0;) {
      if (const auto made = ids_.find(joined(file_.merges[rank])); made != ids_.end()) {
        vocabulary_.scores[static_cast<size_t>(made->second)] = -static_cast<float>(rank);
      }
    }
  }

  TokenId id_of(const std::string& text, const std::string& where) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) file_.fail(where, "the token is not in the vocabulary", text);
    return static_cast<TokenId>(found->second);
  }

  void read_post_processor(const std::string& at) {
    if (!file_.has(at) || type(at) == "ByteLevel") return;
    if (type(at) == "Sequence") {
      file_.for_each(at + "/processors", [&](const std::string& step) { read_post_processor(step); });
      return;
    }
    if (type(at) != "TemplateProcessing") refuse(at);
    bool text_is_over = false;
    file_.for_each(at + "/single", [&](const std::string& step) {
      if (file_.has(step + "/Sequence")) {
        text_is_over = true;
        return;
      }
      bool& adds = text_is_over ? vocabulary_.add_eos : vocabulary_.add_bos;
      if (adds) file_.fail(step, "more than one token before or after a text is not supported");
      adds = true;
      const TokenId id = id_of(file_.text(step + "/SpecialToken/id"), step);
      if (text_is_over) {
        vocabulary_.end_tokens = {id};
      } else {
        vocabulary_.bos = id;
      }
    });
  }

  const TokenizerJson& file_;
  Vocabulary vocabulary_;
  bool is_sentencepiece_ = false;
  bool cuts_to_bytes_ = false;
  bool replaces_spaces_ = false;
  std::unordered_map<std::string, int64_t> ids_;
  std::vector<std::string> texts_;  // by id
  std::vector<PieceKind> kinds_;
};

}  // namespace

Vocabulary read_vocab_and_merges(const std::string& vocab_path, const std::string& merges_path,
                                 const PreTokenization& rules, std::span<const AddedToken> added) {
  TokenizerJson file = TokenizerJson::vocabulary_alone(vocab_path);
  file.read_merges_txt(merges_path);
  return Reader(file).read_alone(rules, added);
}

Vocabulary read_tokenizer_json(const std::string& path) { return Reader(TokenizerJson(path)).read(); }

}  // namespace orrery
