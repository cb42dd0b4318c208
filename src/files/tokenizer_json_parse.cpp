#include "files/tokenizer_json_parse.h"

#include <algorithm>

#include "base/error.h"
#include "base/mapped_file.h"

namespace orrery {
namespace {

constexpr size_t kMaxValues = 16'000'000;  // vocabulary and merges of the largest real files have a tenth of it

}  // namespace

// Keeps vocabulary and merges out of the other values.
class TokenizerJson::Reader : public JsonValues::Collector {
 public:
  Reader(TokenizerJson& file, bool is_vocabulary)
      : Collector(file), file_(file), vocabulary_at_(is_vocabulary ? "" : "model/vocab") {}

  void add(const std::string& key, JsonValue value) override {
    switch (place_) {
      case Place::in_vocabulary: add_piece(key, value); return;
      case Place::in_merges: add_merge(std::move(value)); return;
      case Place::in_merge: add_half(value); return;
      case Place::elsewhere: break;
    }
    const JsonValue::Type type = value.type;
    Collector::add(key, std::move(value));
    if (type == JsonValue::object && path_of_value() == vocabulary_at_) place_ = Place::in_vocabulary;
    if (type == JsonValue::list && path_of_value() == "model/merges") place_ = Place::in_merges;
  }

  void end() override {
    if (place_ == Place::in_merge) {
      if (n_halves_ != 2) fail_merge();
      place_ = Place::in_merges;
    } else {
      place_ = Place::elsewhere;
      Collector::end();
    }
  }

 private:
  enum class Place { elsewhere, in_vocabulary, in_merges, in_merge };

  [[noreturn]] void fail_merge() const {
    file_.fail("model/merges/" + std::to_string(file_.merges.size()),
               "a merge is neither two pieces with a space between nor an array of them");
  }
  void refuse_nested(const JsonValue& value, const char* where) const {
    if (value.type == JsonValue::list || value.type == JsonValue::object) {
      file_.fail(where, "there is something nested in it");
    }
  }

  void add_piece(const std::string& key, const JsonValue& value) {
    refuse_nested(value, "model/vocab");
    if (value.type != JsonValue::integer) file_.fail("model/vocab", "the id of a token is not an integer", key);
    file_.vocabulary.emplace_back(key, value.number);
  }

  void add_merge(JsonValue value) {
    if (value.type == JsonValue::list) {
      place_ = Place::in_merge;
      n_halves_ = 0;
      return;
    }
    refuse_nested(value, "model/merges");
    if (value.type != JsonValue::text) fail_merge();
    file_.merges.push_back(std::move(value.text_value));
  }

  void add_half(JsonValue& value) {
    refuse_nested(value, "model/merges");
    if (value.type != JsonValue::text || value.text_value.find(' ') != std::string::npos) fail_merge();
    if (n_halves_++ == 0) {
      file_.merges.push_back(std::move(value.text_value));
    } else {
      file_.merges.back() += " " + value.text_value;
    }
  }

  TokenizerJson& file_;
  const std::string vocabulary_at_;
  Place place_ = Place::elsewhere;
  size_t n_halves_ = 0;
};

TokenizerJson::TokenizerJson(const std::string& path) : TokenizerJson(path, false) {}

TokenizerJson::TokenizerJson(const std::string& path, bool is_vocabulary) : JsonValues(path, NotYet{}) {
  const MappedFile file(path);
  Reader reader(*this, is_vocabulary);
  expect(file.bytes().size());
  read_json(path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, kMaxValues, reader);
}

void TokenizerJson::read_merges_txt(const std::string& merges_path) {
  const MappedFile file(merges_path);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  for (int line = 1; !rest.empty(); ++line) {
    std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty() || (line == 1 && text.starts_with("#version"))) continue;
    const size_t space = text.find(' ');
    const bool is_pair = space != std::string_view::npos && space > 0 && space + 1 < text.size() &&
                         text.find(' ', space + 1) == std::string_view::npos;
    if (!is_pair) {
      throw Error({.what = "a merge is not two pieces with a space between",
                   .where = merges_path + ": line " + std::to_string(line),
                   .found = std::string(text.substr(0, 40))});
    }
    merges.emplace_back(text);
  }
}

}  // namespace orrery
