#include "base/error.h"

#include <cstdio>

#include "base/utf8.h"

namespace orrery {
namespace {

// What a file says may be as long as the file: a line has room for its beginning. Paths are up to 4,096 bytes long.
constexpr size_t kLongestPlace = 5000;
constexpr size_t kLongestFound = 500;

std::string cut(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  text = text.substr(0, most);
  text.remove_suffix(utf8_incomplete_tail(text));
  return std::string(text) + "...";
}

std::string join(const ErrorParts& parts) {
  std::string line;
  if (!parts.where.empty()) line += cut(parts.where, kLongestPlace) + ": ";
  line += cut(parts.what, kLongestPlace);
  if (!parts.expected.empty()) line += "; expected " + cut(parts.expected, kLongestPlace);
  if (!parts.found.empty())
    line += (parts.expected.empty() ? "; found " : ", found ") + cut(parts.found, kLongestFound);
  if (!parts.hint.empty()) line += ". Hint: " + parts.hint;
  return printable(line);
}

}  // namespace

Error::Error(ErrorParts parts) : std::runtime_error(join(parts)), parts_(std::move(parts)) {}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    // U+0080..U+009F are control characters too: in UTF-8 they begin with C2 and stay below A0.
    const bool is_control =
        lead < 0x20 || lead == 0x7F || (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
    const size_t taken = length == 0 ? 1 : length;
    if (length == 0 || is_control) {
      for (size_t i = 0; i < taken; ++i) {
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned char>(text[i]));
        out += escaped;
      }
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace orrery
