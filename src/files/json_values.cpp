#include "files/json_values.h"

#include <climits>
#include <cstdio>

#include "base/error.h"
#include "base/mapped_file.h"

namespace orrery {
namespace {

constexpr size_t kMaxValues = 1'000'000;  // ten times what the largest real files have
// A value's path repeats the keys of all that it is in: what is nested under a long key would take its length each
// time. In real files the paths are two or three times as long as the file.
constexpr size_t kPathBytes = 1 << 20;
constexpr size_t kPathBytesPerByte = 16;

std::string text_of(const JsonValue& value) {
  char number[32];
  switch (value.type) {
    case JsonValue::null: return "null";
    case JsonValue::text: return value.text_value;
    case JsonValue::flag: return value.number != 0 ? "true" : "false";
    case JsonValue::integer: return std::to_string(value.number);
    case JsonValue::real: std::snprintf(number, sizeof number, "%g", value.real_number); return number;
    default: return "";
  }
}

}  // namespace

JsonValues::JsonValues(const std::string& path) : path_(path) {
  const MappedFile file(path);
  Collector collector(*this);
  expect(file.bytes().size());
  read_json(path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, kMaxValues, collector);
  if (!is("", JsonValue::object)) fail("", "the file is not a JSON object");
}

void JsonValues::Collector::add(const std::string& key, JsonValue value) {
  last_path_.clear();
  if (!levels_.empty()) {
    Level& level = levels_.back();
    const std::string name = level.is_list ? std::to_string(level.count++) : key;
    last_path_ = level.path.empty() ? name : level.path + "/" + name;
  }
  const JsonValue::Type type = value.type;
  file_.put(last_path_, std::move(value));
  if (type == JsonValue::list || type == JsonValue::object) levels_.push_back({type == JsonValue::list, last_path_});
}

void JsonValues::expect(size_t file_bytes) { path_bytes_left_ = kPathBytes + file_bytes * kPathBytesPerByte; }

void JsonValues::put(const std::string& at, JsonValue value) {
  if (at.size() > path_bytes_left_) fail("", "the keys are too long for what is nested in them");
  path_bytes_left_ -= at.size();
  if (values_.size() >= kMaxValues) fail("", "the file has too many values");
  if (!index_.emplace(at, values_.size()).second) fail(at, "the key is there twice");
  values_.emplace_back(at, std::move(value));
}

const JsonValue* JsonValues::find(const std::string& at) const {
  const auto found = index_.find(at);
  return found == index_.end() ? nullptr : &values_[found->second].second;
}

const JsonValue* JsonValues::find(const std::string& at, JsonValue::Type type, const char* expected) const {
  const JsonValue* value = find(at);
  if (value == nullptr || value->type == JsonValue::null) return nullptr;
  if (value->type != type) fail(at, std::string("the value is not ") + expected);
  return value;
}

bool JsonValues::has(const std::string& at) const {
  const JsonValue* value = find(at);
  return value != nullptr && value->type != JsonValue::null;
}

bool JsonValues::is(const std::string& at, JsonValue::Type type) const {
  const JsonValue* value = find(at);
  return value != nullptr && value->type == type;
}

std::string JsonValues::text(const std::string& at, const std::string& otherwise) const {
  const JsonValue* value = find(at, JsonValue::text, "text");
  return value != nullptr ? value->text_value : otherwise;
}

bool JsonValues::flag(const std::string& at, bool otherwise) const {
  const JsonValue* value = find(at, JsonValue::flag, "true or false");
  return value != nullptr ? value->number != 0 : otherwise;
}

int64_t JsonValues::integer(const std::string& at) const {
  const JsonValue* value = find(at, JsonValue::integer, "an integer");
  if (value == nullptr) fail(at, "the value is missing");
  return value->number;
}

double JsonValues::number(const std::string& at, double otherwise) const {
  if (!has(at)) return otherwise;
  if (!is(at, JsonValue::integer) && !is(at, JsonValue::real)) fail(at, "the value is not a number");
  return find(at)->real_number;
}

int JsonValues::count(const std::string& at) const {
  const int64_t value = integer(at);
  if (value < 0 || value > INT_MAX) {
    fail(at, "the value makes no sense", std::to_string(value), "0 to " + std::to_string(INT_MAX));
  }
  return static_cast<int>(value);
}

std::vector<std::pair<std::string, std::string>> JsonValues::lines() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [at, value] : values_) {
    if (value.type != JsonValue::list && value.type != JsonValue::object) all.emplace_back(at, text_of(value));
  }
  return all;
}

void JsonValues::fail(const std::string& at, const std::string& what, const std::string& found,
                      const std::string& expected) const {
  throw Error({.what = what, .where = path_ + (at.empty() ? "" : ": " + at), .expected = expected, .found = found});
}

}  // namespace orrery
