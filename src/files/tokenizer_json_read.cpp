#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "files/pre_tokenizations.h"
#include "files/tokenizer_json.h"
#include "files/tokenizer_json_parse.h"

namespace orrery {
namespace {

// How much larger than the number of tokens an id may be: some files leave gaps.
constexpr size_t kMaxGaps = 1 << 16;

// Makes a vocabulary of what the file says, or refuses it.
class Reader {
 public:
  explicit Reader(const TokenizerJson& file) : file_(file) {}

  Vocabulary read() {
    vocabulary_.model = "gpt2";
    vocabulary_.add_bos = vocabulary_.add_space_prefix = false;
    check_model();
    read_normalizer("normalizer");
    if (file_.has("pre_tokenizer")) read_pre_tokenizer("pre_tokenizer");
    if (!cuts_to_bytes_) file_.fail("pre_tokenizer", "only byte-level BPE is supported, and this is not about bytes");
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
    if (file_.flag("model/byte_fallback", false)) file_.fail("model", "SentencePiece's BPE is not supported");
    for (const char* key : {"model/continuing_subword_prefix", "model/end_of_word_suffix"}) {
      if (!file_.text(key).empty()) file_.fail(key, "marks on pieces are not supported", file_.text(key));
    }
  }

  void read_normalizer(const std::string& at) {
    if (!file_.has(at)) return;
    if (type(at) == "Sequence") {
      file_.for_each(at + "/normalizers", [&](const std::string& step) { read_normalizer(step); });
    } else if (type(at) == "NFC") {
      vocabulary_.pre_tokenization.nfc = true;
    } else {
      refuse(at);
    }
  }

  void read_pre_tokenizer(const std::string& at) {
    const std::string kind = type(at);
    if (kind == "Sequence") {
      file_.for_each(at + "/pretokenizers", [&](const std::string& step) { read_pre_tokenizer(step); });
      return;
    }
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

  void read_tokens() {
    for (const auto& [text, id] : file_.vocabulary) add_token(text, id, PieceKind::normal, "model/vocab");
    file_.for_each("added_tokens", [&](const std::string& at) {
      for (const char* flag : {"/single_word", "/lstrip", "/rstrip"}) {
        if (file_.flag(at + flag, false)) file_.fail(at + flag, "added tokens of this sort are not supported");
      }
      const bool is_special = file_.flag(at + "/special", false);
      add_token(file_.text(at + "/content"), file_.integer(at + "/id"),
                is_special ? PieceKind::control : PieceKind::user_defined, at);
    });
    if (texts_.empty()) file_.fail("model/vocab", "the vocabulary is empty");
    const std::string unknown = file_.text("model/unk_token");
    if (!unknown.empty()) {
      vocabulary_.unknown = id_of(unknown, "model/unk_token");
      kinds_[vocabulary_.unknown] = PieceKind::unknown;
    }

    auto storage = std::make_shared<std::string>();
    for (const std::string& text : texts_) *storage += text;
    for (const std::string& merge : file_.merges) *storage += merge;
    std::string_view rest = *storage;
    const auto next = [&](const std::string& text) {
      const std::string_view view = rest.substr(0, text.size());
      rest.remove_prefix(text.size());
      return view;
    };
    for (const std::string& text : texts_) vocabulary_.pieces.push_back(next(text));
    for (const std::string& merge : file_.merges) vocabulary_.merges.push_back(next(merge));
    vocabulary_.storage = storage;
    vocabulary_.kinds = std::move(kinds_);
    vocabulary_.scores.assign(vocabulary_.pieces.size(), 0);
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
  bool cuts_to_bytes_ = false;
  std::unordered_map<std::string, int64_t> ids_;
  std::vector<std::string> texts_;  // by id
  std::vector<PieceKind> kinds_;
};

}  // namespace

Vocabulary read_tokenizer_json(const std::string& path) { return Reader(TokenizerJson(path)).read(); }

}  // namespace orrery
