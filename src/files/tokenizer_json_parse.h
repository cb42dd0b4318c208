// What stands in a tokenizer.json, before anybody asks what it means: vocabulary and merges as lists, all else by its
// path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

class TokenizerJson {
 public:
  // Throws Error for what is not JSON, and where it is nested more than 64 deep, has too many values or a key twice.
  explicit TokenizerJson(const std::string& path);

  // Values by their path, such as "pre_tokenizer/pretokenizers/0/type". A getter gives `otherwise` for what is absent
  // or null and throws Error for a value of another type.
  std::string text(const std::string& at, const std::string& otherwise = "") const;
  bool flag(const std::string& at, bool otherwise) const;
  int64_t integer(const std::string& at) const;  // throws where it is absent
  bool has(const std::string& at) const;         // and it is not null

  [[noreturn]] void fail(const std::string& at, const std::string& what, const std::string& found = "") const;

  std::vector<std::pair<std::string, int64_t>> vocabulary;  // model/vocab, in the file's order
  std::vector<std::string> merges;                          // model/merges, "a b", whichever way they are written

 private:
  struct Value {
    enum Type { null, text, flag, integer, other } type = null;
    std::string text_value;
    int64_t number = 0;
  };
  class Reader;
  const Value* find(const std::string& at, Value::Type type, const char* expected) const;

  std::string path_;
  std::map<std::string, Value> values_;
};

}  // namespace orrery
