// What stands in a tokenizer.json, before anybody asks what it means: vocabulary and merges as lists, all else by its
// path.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "files/json_values.h"

namespace orrery {

class TokenizerJson : public JsonValues {
 public:
  // Throws Error as JsonValues does.
  explicit TokenizerJson(const std::string& path);
  // Of a file whose whole is what model/vocab is in a tokenizer.json.
  static TokenizerJson vocabulary_alone(const std::string& path) { return TokenizerJson(path, true); }
  // The merges of such a file: lines of "a b" after one that may begin with "#version". Throws Error for other lines.
  void read_merges_txt(const std::string& merges_path);

  std::vector<std::pair<std::string, int64_t>> vocabulary;  // model/vocab, in the file's order
  std::vector<std::string> merges;                          // model/merges, "a b", whichever way they are written

 private:
  class Reader;
  TokenizerJson(const std::string& path, bool is_vocabulary);
};

}  // namespace orrery
