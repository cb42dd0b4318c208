#include "base/utf8.h"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace orrery;

namespace {

// From a code point, by the definition.
std::string encoded(uint32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

bool is_surrogate(uint32_t c) { return c >= 0xD800 && c < 0xE000; }

// The bytes at which table 3-7 changes its mind, and their neighbours.
const std::vector<int> kBytes = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};

}  // namespace

TEST_CASE("utf8_length: every code point, and none that there is not") {
  for (uint32_t c = 0; c < 0x110400; ++c) {
    const std::string bytes = encoded(c);
    const size_t expected = is_surrogate(c) || c > 0x10FFFF ? 0 : bytes.size();
    if (utf8_length(bytes + "\x80") != expected) FAIL("code point " << c);
  }
  CHECK(utf8_length("") == 0);
  CHECK(utf8_length("\xC0\x80") == 0);          // too long for U+0000
  CHECK(utf8_length("\xE0\x9F\xBF") == 0);      // too long for U+07FF
  CHECK(utf8_length("\xF0\x8F\xBF\xBF") == 0);  // too long for U+FFFF
  CHECK(utf8_length("\xE4\xB8") == 0);
}

TEST_CASE("utf8_incomplete_tail: the bytes that some character begins with, and no others") {
  std::set<std::string> beginnings;
  for (uint32_t c = 0x80; c < 0x110000; c += 0x40) {  // the last byte is never among them
    const std::string bytes = encoded(c);
    for (size_t size = 1; size < bytes.size() && !is_surrogate(c); ++size) beginnings.insert(bytes.substr(0, size));
  }
  for (const int a : kBytes) {
    for (const int b : kBytes) {
      for (const int c : kBytes) {
        const std::string text = {'x', static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        size_t expected = 0;
        for (size_t tail = 1; tail <= 3; ++tail) {
          if (beginnings.contains(text.substr(text.size() - tail))) expected = tail;
        }
        if (utf8_incomplete_tail(text) != expected) FAIL(a << " " << b << " " << c);
      }
    }
  }
  CHECK(utf8_incomplete_tail("") == 0);
  CHECK(utf8_incomplete_tail("\xF0\x9F\x9A") == 3);
  CHECK(utf8_incomplete_tail("\xF0\x9F\x9A\x80") == 0);
}

TEST_CASE("utf8_sanitized: one U+FFFD for each byte that is no part of a character") {
  CHECK(utf8_sanitized("").empty());
  CHECK(utf8_sanitized("a\u4E2D\U0001F680") == "a\u4E2D\U0001F680");
  CHECK(utf8_sanitized("\xE4\xB8"
                       "a\xFF") ==
        "\uFFFD\uFFFD"
        "a\uFFFD");
  CHECK(utf8_sanitized(std::string("\0", 1)) == std::string("\0", 1));
}

TEST_CASE("utf8: columns in a terminal") {
  CHECK(terminal_columns("") == 0);
  CHECK(terminal_columns("abc") == 3);
  CHECK(terminal_columns("\xC3\xA9") == 1);                   // e with an accent
  CHECK(terminal_columns("\xE4\xBB\x8E\xE5\x89\x8D!") == 5);  // two Chinese characters
  CHECK(terminal_columns("\xE2\x80\x94") == 1);               // a dash
  CHECK(terminal_columns("\xE4\xBB") == 2);                   // half a character: each byte by itself
}
