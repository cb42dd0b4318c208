// UTF-8 by hand: little of it is needed here, and streaming needs to know about sequences that are not complete yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

// Length of the well-formed character at the start of `text` (Unicode 15, table 3-7); 0 where there is none.
size_t utf8_length(std::string_view text);
// How many bytes at the end of `text` may be the start of a character whose rest has not come yet: 0 to 3.
size_t utf8_incomplete_tail(std::string_view text);
// Every byte that is not part of a well-formed character becomes U+FFFD.
std::string utf8_sanitized(std::string_view text);
// Columns that a text takes in a terminal: two for Chinese (here all characters of three bytes and more), one for all
// else, also for typographic ones (the dash, quotation marks, subscripts: U+2000 to U+2FFF).
size_t terminal_columns(std::string_view text);

}  // namespace orrery
