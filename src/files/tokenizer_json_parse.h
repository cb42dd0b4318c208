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

  std::vector<std::pair<std::string, int64_t>> vocabulary;  // model/vocab, in the file's order
  std::vector<std::string> merges;                          // model/merges, "a b", whichever way they are written

 private:
  class Reader;
};

}  // namespace orrery
