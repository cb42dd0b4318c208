#include "base/error.h"

#include <cstdio>

#include "base/utf8.h"

namespace orrery {
namespace {

std::string join(const ErrorParts& parts) {
  std::string line;
  if (!parts.where.empty()) line += parts.where + ": ";
  line += parts.what;
  if (!parts.expected.empty()) line += "; expected " + parts.expected;
  if (!parts.found.empty()) line += (parts.expected.empty() ? "; found " : ", found ") + parts.found;
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
