#include "base/error.h"

#include <string>

#include <doctest/doctest.h>

using namespace orrery;

TEST_CASE("Error: the parts become one line") {
  CHECK(std::string(Error({.what = "bad"}).what()) == "bad");
  CHECK(std::string(Error({.what = "bad", .where = "a.gguf"}).what()) == "a.gguf: bad");
  CHECK(std::string(Error({.what = "bad", .expected = "1"}).what()) == "bad; expected 1");
  CHECK(std::string(Error({.what = "bad", .found = "2"}).what()) == "bad; found 2");
  const Error all({.what = "bad", .where = "f", .expected = "1", .found = "2", .hint = "try 1"});
  CHECK(std::string(all.what()) == "f: bad; expected 1, found 2. Hint: try 1");
  CHECK(all.parts().hint == "try 1");
}

TEST_CASE("Error: what a file says cannot reach the terminal raw") {
  const Error error({.what = "no tensor 'a\n\x1B[31mb\x7F'", .where = std::string("x\0y", 3)});
  CHECK(std::string(error.what()) == "x\\x00y: no tensor 'a\\x0A\\x1B[31mb\\x7F'");
}

TEST_CASE("printable: control characters and broken UTF-8 are written out, all else stays") {
  CHECK(printable("").empty());
  CHECK(printable("Gr\u00FC\u00DFe \u4E2D\u6587 \U0001F680") == "Gr\u00FC\u00DFe \u4E2D\u6587 \U0001F680");
  CHECK(printable("\t\r\n") == "\\x09\\x0D\\x0A");
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\xC2\\x9B31m");  // U+009B begins an escape sequence, too
  CHECK(printable("\xC2\xA0") == "\xC2\xA0");
  CHECK(printable("\xE4\xB8"
                  "a\xFF") == "\\xE4\\xB8a\\xFF");
}
