#include "base/utf8.h"

#include <algorithm>

namespace orrery {

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = lead == 0xE0 ? tail(1, 0xA0) : lead == 0xED ? tail(1, 0x80, 0x9F) : tail(1);
    return second && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = lead == 0xF0 ? tail(1, 0x90) : lead == 0xF4 ? tail(1, 0x80, 0x8F) : tail(1);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

size_t utf8_incomplete_tail(std::string_view text) {
  for (size_t tail = 1; tail <= std::min<size_t>(3, text.size()); ++tail) {
    const auto lead = static_cast<unsigned char>(text[text.size() - tail]);
    if (lead >= 0x80 && lead < 0xC0) continue;  // a continuation byte: look further back for its lead
    const size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    if (wanted <= tail || lead > 0xF4) return 0;
    // The bytes that are there must allow a well-formed character: fill up with the two extreme continuations.
    for (const char filler : {'\x80', '\xBF'}) {
      const std::string candidate = std::string(text.substr(text.size() - tail)) + std::string(wanted - tail, filler);
      if (utf8_length(candidate) == wanted) return tail;
    }
    return 0;
  }
  return 0;
}

std::string utf8_sanitized(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t terminal_columns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(utf8_length(text), 1);
    columns += length >= 3 && text[0] != '\xE2' ? 2 : 1;
    text.remove_prefix(length);
  }
  return columns;
}

}  // namespace orrery
