// JSON as it may stand inside <script> in a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

// In quotes. '<' is escaped, so that no text ends the script, and U+2028 and U+2029, which end a line in JavaScript.
// Bytes that are no UTF-8 are shown as "<0xE2>".
std::string json_for_page(std::string_view text);
// With so many significant digits; what is not finite becomes null.
std::string json_for_page(double number, int digits = 4);

template <class T>
std::string json_list(std::span<const T> items, const auto& json_of) {
  std::string text = "[";
  for (const T& item : items) text += (text.size() > 1 ? "," : "") + json_of(item);
  return text + "]";
}

std::string base64(std::span<const uint8_t> bytes);

}  // namespace orrery
