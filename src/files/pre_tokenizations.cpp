#include "files/pre_tokenizations.h"

#include <algorithm>
#include <sstream>

namespace orrery {
namespace {

constexpr char kTable[] =
#include "files/pre_tokenizations.table.inc"
    ;

std::vector<PreTokenization> parsed(const char* table) {
  std::vector<PreTokenization> all;
  size_t entry = 0;  // where in `all` the entry begins that is being read: one for each of its names
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = line.substr(std::min(space + 1, line.size()));  // a pattern may begin with a space
    if (word == "name") {
      entry = all.size();
      std::istringstream names(rest);
      for (std::string name; names >> name;) all.push_back({.name = name});
    }
    for (size_t i = entry; i < all.size(); ++i) {
      if (word == "split") all[i].patterns.push_back(rest);
      if (word == "nfc") all[i].nfc = true;
      if (word == "ignore_merges") all[i].ignore_merges = true;
      if (word == "add_bos") all[i].add_bos = true;
    }
  }
  return all;
}

}  // namespace

const std::vector<PreTokenization>& known_pre_tokenizations() {
  static const std::vector<PreTokenization> known = parsed(kTable);
  return known;
}

PreTokenization pre_tokenization_named(std::string_view name) {
  const auto found = std::ranges::find(known_pre_tokenizations(), name, &PreTokenization::name);
  return found != known_pre_tokenizations().end() ? *found : PreTokenization{.name = std::string(name)};
}

std::string name_of(const PreTokenization& rules) {
  for (const PreTokenization& known : known_pre_tokenizations()) {
    if (known.patterns == rules.patterns && known.nfc == rules.nfc && known.ignore_merges == rules.ignore_merges) {
      return known.name;
    }
  }
  return "";
}

}  // namespace orrery
