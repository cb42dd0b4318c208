// Names chosen by a regular expression, as grep chooses lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;  // PCRE2's name for a compiled pattern

namespace orrery {

class NameFilter {
 public:
  // PCRE2's syntax. Throws Error for a pattern that it cannot compile.
  explicit NameFilter(const std::string& pattern);
  // Whether the pattern matches anywhere in the name. Throws Error where that takes too many steps.
  bool operator()(std::string_view name) const;

 private:
  std::string pattern_;
  std::shared_ptr<pcre2_real_code_8> code_;
};

}  // namespace orrery
