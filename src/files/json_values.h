// A JSON file as values by their paths, such as "rope_scaling/factor" or "layers/0/type": enough for files that say
// settings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/json_reader.h"

namespace orrery {

class JsonValues {
 public:
  // Reads a file whose whole is an object. Throws Error for what is not JSON, and where it is nested more than 64 deep,
  // has more than a million values, a key twice, or keys so long that their paths would be many times the file.
  explicit JsonValues(const std::string& path);

  // The getters give `otherwise` for what is absent or null and throw Error for a value of another type.
  std::string text(const std::string& at, const std::string& otherwise = "") const;
  bool flag(const std::string& at, bool otherwise) const;
  int64_t integer(const std::string& at) const;  // throws where it is absent
  double number(const std::string& at, double otherwise) const;
  bool has(const std::string& at) const;  // and it is not null
  bool is(const std::string& at, JsonValue::Type type) const;
  // A number of things: at least 0 and fits an int. The first throws where it is absent.
  int count(const std::string& at) const;
  int count_or(const std::string& at, int otherwise) const { return has(at) ? count(at) : otherwise; }

  // Calls `read` with the path of each element of a list.
  template <class Read>
  void for_each(const std::string& list, const Read& read) const {
    for (size_t i = 0; find(list + "/" + std::to_string(i)) != nullptr; ++i) read(list + "/" + std::to_string(i));
  }

  // Paths and values as text for people, in the file's order; of lists and objects what is in them.
  std::vector<std::pair<std::string, std::string>> lines() const;

  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& at, const std::string& what, const std::string& found = "",
                         const std::string& expected = "") const;

 protected:
  struct NotYet {};
  JsonValues(std::string path, NotYet) : path_(std::move(path)) {}
  // Before the first value of a file of that size.
  void expect(size_t file_bytes);

  // Hears all values, or those below some place of which it is told, and puts them in.
  class Collector : public JsonListener {
   public:
    explicit Collector(JsonValues& file) : file_(file) {}
    void add(const std::string& key, JsonValue value) override;
    void end() override { levels_.pop_back(); }

   protected:
    const std::string& path_of_value() const { return last_path_; }  // of the one that was added last

   private:
    struct Level {
      bool is_list;
      std::string path;
      size_t count = 0;  // of values so far
    };
    JsonValues& file_;
    std::vector<Level> levels_;
    std::string last_path_;
  };

  const JsonValue* find(const std::string& at) const;

 private:
  const JsonValue* find(const std::string& at, JsonValue::Type type, const char* expected) const;
  void put(const std::string& at, JsonValue value);

  std::string path_;
  size_t path_bytes_left_ = 0;  // of all paths together
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::pair<std::string, JsonValue>> values_;
};

}  // namespace orrery
