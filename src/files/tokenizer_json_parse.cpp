#include "files/tokenizer_json_parse.h"

#include "base/mapped_file.h"

namespace orrery {
namespace {

constexpr size_t kMaxValues = 16'000'000;  // vocabulary and merges of the largest real files have a tenth of it

}  // namespace

// Keeps vocabulary and merges out of the other values.
class TokenizerJson::Reader : public JsonValues::Collector {
 public:
  explicit Reader(TokenizerJson& file) : Collector(file), file_(file) {}

  void add(const std::string& key, JsonValue value) override {
    switch (place_) {
      case Place::in_vocabulary: add_piece(key, value); return;
      case Place::in_merges: add_merge(std::move(value)); return;
      case Place::in_merge: add_half(value); return;
      case Place::elsewhere: break;
    }
    const JsonValue::Type type = value.type;
    Collector::add(key, std::move(value));
    if (type == JsonValue::object && path_of_value() == "model/vocab") place_ = Place::in_vocabulary;
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
  Place place_ = Place::elsewhere;
  size_t n_halves_ = 0;
};

TokenizerJson::TokenizerJson(const std::string& path) : JsonValues(path, NotYet{}) {
  const MappedFile file(path);
  Reader reader(*this);
  expect(file.bytes().size());
  read_json(path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, kMaxValues, reader);
}

}  // namespace orrery
