#include "files/tokenizer_json_parse.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/mapped_file.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxValues = 1'000'000;  // besides vocabulary and merges; ten times what the largest real files have

}  // namespace

// Gets called with each value as it is read, so that the file never stands in memory as a tree.
class TokenizerJson::Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(TokenizerJson& file) : file_(file) {}

  bool null() override { return add({Value::null}); }
  bool boolean(bool value) override { return add({Value::flag, "", value}); }
  bool number_integer(number_integer_t value) override { return add({Value::integer, "", value}); }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max());
    return add(fits ? Value{Value::integer, "", static_cast<int64_t>(value)} : Value{Value::other});
  }
  bool number_float(number_float_t, const string_t&) override { return add({Value::other}); }
  bool string(string_t& value) override { return add({Value::text, std::move(value)}); }
  bool binary(binary_t&) override { return false; }  // there is no such thing in JSON
  bool start_object(size_t) override { return start(false); }
  bool start_array(size_t) override { return start(true); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    file_.fail("", "the file is broken JSON at byte " + std::to_string(position));
  }

 private:
  enum class Place { elsewhere, in_vocabulary, in_merges, in_merge };
  struct Level {
    bool is_array;
    Place place;
    std::string path;
    size_t count = 0;  // of values so far
  };

  Place place() const { return levels_.empty() ? Place::elsewhere : levels_.back().place; }

  // Of the value that comes now.
  std::string next_path() {
    if (levels_.empty()) return "";
    Level& level = levels_.back();
    const std::string name = level.is_array ? std::to_string(level.count++) : key_;
    return level.path.empty() ? name : level.path + "/" + name;
  }

  [[noreturn]] void fail_merge() const {
    file_.fail("model/merges/" + std::to_string(file_.merges.size()),
               "a merge is neither two pieces with a space between nor an array of them");
  }

  bool add(Value value) {
    switch (place()) {
      case Place::in_vocabulary:
        if (value.type != Value::integer) file_.fail("model/vocab", "the id of a token is not an integer", key_);
        file_.vocabulary.emplace_back(key_, value.number);
        break;
      case Place::in_merges:
        if (value.type != Value::text) fail_merge();
        file_.merges.push_back(std::move(value.text_value));
        break;
      case Place::in_merge:  // half of one
        if (value.type != Value::text || value.text_value.find(' ') != std::string::npos) fail_merge();
        if (levels_.back().count++ == 0) {
          file_.merges.push_back(std::move(value.text_value));
        } else {
          file_.merges.back() += " " + value.text_value;
        }
        break;
      case Place::elsewhere: put(next_path(), std::move(value));
    }
    return true;
  }

  void put(const std::string& path, Value value) {
    if (file_.values_.size() >= kMaxValues) file_.fail("", "the file has too many values");
    if (!file_.values_.emplace(path, std::move(value)).second) file_.fail(path, "the key is there twice");
  }

  bool start(bool is_array) {
    if (levels_.size() >= kMaxDepth) file_.fail("", "the file is nested too deep");
    if (place() == Place::elsewhere) {
      const std::string path = next_path();
      put(path, {Value::other});
      const bool is_vocabulary = path == "model/vocab" && !is_array;
      const bool is_merges = path == "model/merges" && is_array;
      const Place inside = is_vocabulary ? Place::in_vocabulary : is_merges ? Place::in_merges : Place::elsewhere;
      levels_.push_back({is_array, inside, path});
    } else if (place() == Place::in_merges && is_array) {
      levels_.push_back({is_array, Place::in_merge, ""});
    } else {
      file_.fail(place() == Place::in_vocabulary ? "model/vocab" : "model/merges", "there is something nested in it");
    }
    return true;
  }

  bool end() {
    if (place() == Place::in_merge && levels_.back().count != 2) fail_merge();
    levels_.pop_back();
    return true;
  }

  TokenizerJson& file_;
  std::vector<Level> levels_;
  std::string key_;
};

TokenizerJson::TokenizerJson(const std::string& path) : path_(path) {
  const MappedFile file(path);
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  Reader reader(*this);
  Json::sax_parse(text, text + file.bytes().size(), &reader);
}

const TokenizerJson::Value* TokenizerJson::find(const std::string& at, Value::Type type, const char* expected) const {
  const auto found = values_.find(at);
  if (found == values_.end() || found->second.type == Value::null) return nullptr;
  if (found->second.type != type) fail(at, std::string("the value is not ") + expected);
  return &found->second;
}

bool TokenizerJson::has(const std::string& at) const {
  const auto found = values_.find(at);
  return found != values_.end() && found->second.type != Value::null;
}

std::string TokenizerJson::text(const std::string& at, const std::string& otherwise) const {
  const Value* value = find(at, Value::text, "text");
  return value != nullptr ? value->text_value : otherwise;
}

bool TokenizerJson::flag(const std::string& at, bool otherwise) const {
  const Value* value = find(at, Value::flag, "true or false");
  return value != nullptr ? value->number != 0 : otherwise;
}

int64_t TokenizerJson::integer(const std::string& at) const {
  const Value* value = find(at, Value::integer, "an integer");
  if (value == nullptr) fail(at, "the value is missing");
  return value->number;
}

void TokenizerJson::fail(const std::string& at, const std::string& what, const std::string& found) const {
  throw Error({.what = what, .where = path_ + (at.empty() ? "" : ": " + at), .found = found});
}

}  // namespace orrery
