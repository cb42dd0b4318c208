// What a call complains about.
#pragma once

#include <string>

#include "base/error.h"

namespace orrery::test {

// The message of the Error that `call` throws; "" where it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace orrery::test

// The call must throw an Error whose message has all of these words.
#define CHECK_ERROR(call, ...)                                                             \
  do {                                                                                     \
    const std::string message = orrery::test::error_of([&] { (void)(call); });             \
    CAPTURE(message);                                                                      \
    CHECK(message.find('\n') == std::string::npos);                                        \
    for (const char* words : {__VA_ARGS__}) CHECK(orrery::test::contains(message, words)); \
  } while (false)
