#include "cli/positions.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace orrery::cli {

std::vector<int> parse_positions(const std::string& text, int count) {
  const auto fail = [&](const std::string& part) {
    throw Error({.what = "these are not positions of the prompt",
                 .where = "--positions",
                 .expected = "numbers and ranges from 0 to " + std::to_string(count - 1) + ", as in 0-7,12",
                 .found = "'" + part + "'"});
  };
  std::vector<int> positions;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    const char* const end = part.data() + part.size();
    int first = -1, last = -1;
    const char* rest = std::from_chars(part.data(), end, first).ptr;
    last = first;
    if (rest != part.data() && rest != end && *rest == '-') {
      const auto [after, error] = std::from_chars(rest + 1, end, last);
      rest = error == std::errc() ? after : part.data();
    }
    if (rest != end || part.empty() || first < 0 || last < first || last >= count) fail(part);
    for (int position = first; position <= last; ++position) positions.push_back(position);
    begin = comma + 1;
  }
  return positions;
}

}  // namespace orrery::cli
