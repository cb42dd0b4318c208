#include "inspect/page_json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"

namespace orrery {
namespace {

std::string with_code(const char* format, unsigned code) {
  char text[16];
  std::snprintf(text, sizeof text, format, code);
  return text;
}

std::string escaped(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  if (character == "\xE2\x80\xA8") return "\\u2028";
  if (character == "\xE2\x80\xA9") return "\\u2029";
  if (byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\' || byte == '<') return with_code("\\u%04x", byte);
  return std::string(character);
}

}  // namespace

std::string json_for_page(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out +=
        length > 0 ? escaped(text.substr(0, length)) : with_code("\\u003c0x%02X>", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + "\"";
}

std::string json_for_page(double number, int digits) {
  if (!std::isfinite(number)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return text;
}

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? letters[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace orrery
