#include "files/json_reader.h"

#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 64;

class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(const std::string& where, size_t max_values, JsonListener& listener)
      : where_(where), values_left_(max_values), listener_(listener) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({.type = JsonValue::flag, .number = value}); }
  bool number_integer(number_integer_t value) override {
    return add({.type = JsonValue::integer, .number = value, .real_number = static_cast<double>(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    const auto real = static_cast<double>(value);
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max())) {
      return add({.type = JsonValue::real, .real_number = real});
    }
    return add({.type = JsonValue::integer, .number = static_cast<int64_t>(value), .real_number = real});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add({.type = JsonValue::real, .real_number = value});
  }
  bool string(string_t& value) override { return add({.type = JsonValue::text, .text_value = std::move(value)}); }
  bool binary(binary_t&) override { return false; }  // there is no such thing in JSON
  bool start_object(size_t) override { return start({.type = JsonValue::object}); }
  bool start_array(size_t) override { return start({.type = JsonValue::list}); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail("the file is broken JSON at byte " + std::to_string(position));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error({.what = what, .where = where_}); }

  bool add(JsonValue value) {
    if (values_left_-- == 0) fail("the file has too many values");
    listener_.add(in_object_.empty() || !in_object_.back() ? "" : key_, std::move(value));
    return true;
  }
  bool start(JsonValue value) {
    if (in_object_.size() >= kMaxDepth) fail("the file is nested too deep");
    const bool is_object = value.type == JsonValue::object;
    add(std::move(value));
    in_object_.push_back(is_object);
    return true;
  }
  bool end() {
    in_object_.pop_back();
    listener_.end();
    return true;
  }

  const std::string& where_;
  size_t values_left_;
  JsonListener& listener_;
  std::vector<bool> in_object_;  // for each list and object that has not ended: which of the two it is
  std::string key_;
};

}  // namespace

void read_json(const std::string& where, std::string_view text, size_t max_values, JsonListener& listener) {
  Reader reader(where, max_values, listener);
  Json::sax_parse(text.begin(), text.end(), &reader);
}

}  // namespace orrery
