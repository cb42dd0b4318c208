// Metadata of a GGUF file as C++ values and as text.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "files/byte_reader.h"
#include "files/gguf.h"

namespace orrery {
namespace {

constexpr const char* kTypeNames[] = {"uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
                                      "bool",  "string", "array",  "uint64", "int64",  "float64"};

// The parser has seen to it that the bytes are there.
template <class T>
T element(const GgufValue& value, uint64_t i) {
  T result;
  std::memcpy(&result, value.data.data() + i * sizeof(T), sizeof(T));
  return result;
}

bool is_integer(GgufType type) {
  switch (type) {
    case GgufType::float32:
    case GgufType::float64:
    case GgufType::boolean:
    case GgufType::string:
    case GgufType::array: return false;
    default: return true;
  }
}

// A uint64 above the largest int64 becomes that: nothing that is counted here comes near.
int64_t integer_element(const GgufValue& value, uint64_t i) {
  switch (value.type) {
    case GgufType::uint8: return element<uint8_t>(value, i);
    case GgufType::int8: return element<int8_t>(value, i);
    case GgufType::uint16: return element<uint16_t>(value, i);
    case GgufType::int16: return element<int16_t>(value, i);
    case GgufType::uint32: return element<uint32_t>(value, i);
    case GgufType::int32: return element<int32_t>(value, i);
    case GgufType::int64: return element<int64_t>(value, i);
    default: return static_cast<int64_t>(std::min<uint64_t>(element<uint64_t>(value, i), INT64_MAX));
  }
}

// The strings of an array lie one behind the other, each with its length in front.
std::vector<std::string_view> first_strings(const GgufValue& value, uint64_t most) {
  std::vector<std::string_view> strings;
  strings.reserve(std::min(value.count, most));
  const auto* begin = reinterpret_cast<const char*>(value.data.data());
  size_t at = 0;
  while (strings.size() < std::min(value.count, most)) {
    uint64_t length;
    std::memcpy(&length, begin + at, sizeof length);
    strings.emplace_back(begin + at + sizeof length, length);
    at += sizeof length + length;
  }
  return strings;
}

// Cut to about `most` bytes, between two characters.
std::string cut(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  std::string_view head = text.substr(0, most);
  head.remove_suffix(utf8_incomplete_tail(head));
  return std::string(head) + "... (" + with_separators(static_cast<int64_t>(text.size())) + " bytes)";
}

std::string number_text(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  std::replace(text, text + std::strlen(text), ',', '.');  // whatever locale the program has set
  return text;
}

std::string element_text(const GgufValue& value, uint64_t i) {
  switch (value.type) {
    case GgufType::float32: return number_text(element<float>(value, i), 7);
    case GgufType::float64: return number_text(element<double>(value, i), 16);
    case GgufType::boolean: return element<uint8_t>(value, i) != 0 ? "true" : "false";
    case GgufType::uint64: return std::to_string(element<uint64_t>(value, i));
    default: return std::to_string(integer_element(value, i));
  }
}

}  // namespace

bool GgufMetadata::add(std::string_view key, const GgufValue& value) {
  if (!index_.emplace(key, entries_.size()).second) return false;
  entries_.emplace_back(key, value);
  return true;
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

void GgufMetadata::fail(std::string_view key, ErrorParts parts) const {
  parts.where = path_ + ": metadata key " + short_name(key);
  if (const GgufValue* value = find(key)) parts.where += " at byte " + std::to_string(value->offset);
  throw Error(std::move(parts));
}

void GgufMetadata::fail_type(std::string_view key, std::string_view expected) const {
  fail(key,
       {.what = "the value has the wrong type", .expected = std::string(expected), .found = type_text(*find(key))});
}

const GgufValue* GgufMetadata::scalar(std::string_view key, std::string_view expected) const {
  const GgufValue* value = find(key);
  if (value != nullptr && value->is_array) fail_type(key, expected);
  return value;
}

const GgufValue* GgufMetadata::array(std::string_view key, GgufType type) const {
  const GgufValue* value = find(key);
  if (value != nullptr && (!value->is_array || value->type != type)) {
    fail_type(key, std::string("array of ") + kTypeNames[static_cast<size_t>(type)]);
  }
  return value;
}

std::optional<std::string_view> GgufMetadata::text(std::string_view key) const {
  const GgufValue* value = scalar(key, "string");
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufType::string) fail_type(key, "string");
  return first_strings(*value, 1).front();
}

std::optional<int64_t> GgufMetadata::integer(std::string_view key) const {
  const GgufValue* value = scalar(key, "an integer");
  if (value == nullptr) return std::nullopt;
  if (!is_integer(value->type)) fail_type(key, "an integer");
  return integer_element(*value, 0);
}

std::optional<double> GgufMetadata::number(std::string_view key) const {
  const GgufValue* value = scalar(key, "float32");
  if (value == nullptr) return std::nullopt;
  if (value->type == GgufType::float32) return element<float>(*value, 0);
  if (value->type == GgufType::float64) return element<double>(*value, 0);
  fail_type(key, "float32");
}

std::optional<bool> GgufMetadata::flag(std::string_view key) const {
  const GgufValue* value = scalar(key, "bool");
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufType::boolean) fail_type(key, "bool");
  return element<uint8_t>(*value, 0) != 0;
}

int GgufMetadata::count(std::string_view key) const {
  const auto value = integer(key);
  if (!value) fail(key, {.what = "the file does not have this key, and the model cannot be built without it"});
  constexpr int kMost = std::numeric_limits<int>::max();
  if (*value < 0 || *value > kMost) {
    fail(key, {.what = "the number makes no sense",
               .expected = "0 to " + std::to_string(kMost),
               .found = element_text(*find(key), 0)});
  }
  return static_cast<int>(*value);
}

int GgufMetadata::count_or(std::string_view key, int otherwise) const {
  return find(key) == nullptr ? otherwise : count(key);
}

std::vector<std::string_view> GgufMetadata::texts(std::string_view key) const {
  const GgufValue* value = array(key, GgufType::string);
  if (value == nullptr) return {};
  return first_strings(*value, value->count);
}

std::vector<float> GgufMetadata::floats(std::string_view key) const {
  const GgufValue* value = array(key, GgufType::float32);
  if (value == nullptr) return {};
  std::vector<float> values(value->count);
  if (!values.empty()) std::memcpy(values.data(), value->data.data(), value->data.size());
  return values;
}

// Some writers store them as uint32: the same bytes for every number that makes sense here.
std::vector<int32_t> GgufMetadata::integers(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array || (value->type != GgufType::int32 && value->type != GgufType::uint32)) {
    fail_type(key, "array of int32");
  }
  std::vector<int32_t> values(value->count);
  if (!values.empty()) std::memcpy(values.data(), value->data.data(), value->data.size());
  return values;
}

std::string type_text(const GgufValue& value) {
  return (value.is_array ? "array of " : "") + std::string(kTypeNames[static_cast<size_t>(value.type)]);
}

std::string value_text(const GgufValue& value) {
  constexpr size_t kLongestText = 400;
  constexpr size_t kLongestElement = 24;
  constexpr uint64_t kElements = 8;
  const bool is_string = value.type == GgufType::string;
  if (!value.is_array) return is_string ? cut(first_strings(value, 1).front(), kLongestText) : element_text(value, 0);

  const char* plural = value.count == 1 ? "" : "s";
  std::string text = "[" + std::to_string(value.count) + " " + kTypeNames[static_cast<size_t>(value.type)] + plural;
  const uint64_t shown = std::min(value.count, kElements);
  const auto strings = is_string ? first_strings(value, shown) : std::vector<std::string_view>();
  for (uint64_t i = 0; i < shown; ++i) {
    text += i == 0 ? ": " : ", ";
    text += is_string ? cut(strings[i], kLongestElement) : element_text(value, i);
  }
  return text + (shown < value.count ? ", ...]" : "]");
}

}  // namespace orrery
