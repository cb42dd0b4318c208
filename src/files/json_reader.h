// JSON as it is read, value by value, so that a file never stands in memory as a tree. The one place where other
// people's JSON is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

struct JsonValue {
  enum Type { null, text, flag, integer, real, list, object } type = null;
  std::string text_value = {};
  int64_t number = 0;      // of an integer or a flag
  double real_number = 0;  // of an integer or a real
};

class JsonListener {
 public:
  virtual ~JsonListener() = default;
  // Called with each value and the key under which its object has it ("" in a list, and for the whole). A list or an
  // object comes before what is in it.
  virtual void add(const std::string& key, JsonValue value) = 0;
  virtual void end() = 0;  // of the list or object that came last and has not ended
};

// Throws Error (its `where` is `where`) for what is not JSON, and where it is nested more than 64 deep or has more than
// `max_values` values.
void read_json(const std::string& where, std::string_view text, size_t max_values, JsonListener& listener);

}  // namespace orrery
