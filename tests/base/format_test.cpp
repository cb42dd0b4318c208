#include "base/format.h"

#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

using namespace orrery;

TEST_CASE("with_separators") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1000) == "1,000");
  CHECK(with_separators(-999) == "-999");
  CHECK(with_separators(-123456) == "-123,456");
  CHECK(with_separators(1234567) == "1,234,567");
  CHECK(with_separators(INT64_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("bytes_text") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(1024 * 1024 - 1) == "1.0 MiB");  // not 1024.0 KiB
  CHECK(bytes_text(uint64_t{5} << 30) == "5.0 GiB");
  CHECK(bytes_text(UINT64_MAX) == "16.0 EiB");
}

TEST_CASE("fixed") {
  CHECK(fixed(3.14159, 2) == "3.14");
  CHECK(fixed(-0.5, 0) == "-0");
  CHECK(fixed(2.5, 0) == "2");  // ties to even, as printf does
  CHECK(fixed(1e300, 0).size() == 301);
  CHECK(fixed(-std::numeric_limits<double>::max(), 80).size() == 1 + 309 + 1 + 80);
  CHECK(fixed(NAN, 2) == "nan");
  CHECK(fixed(INFINITY, 2) == "inf");
  CHECK(fixed(-INFINITY, 2) == "-inf");
}

TEST_CASE("fixed does not depend on the locale") {
  const char* before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string name = before == nullptr ? "C" : before;
  for (const char* locale : {"de_DE.UTF-8", "fa_IR.UTF-8", ""}) {  // those that are not installed change nothing
    std::setlocale(LC_NUMERIC, locale);
    CHECK(fixed(1234.5, 1) == "1234.5");
  }
  std::setlocale(LC_NUMERIC, name.c_str());
}

TEST_CASE("scaled") {
  CHECK(scaled(0) == "0");
  CHECK(scaled(7) == "7");
  CHECK(scaled(999) == "999");
  CHECK(scaled(999.6) == "1.00K");
  CHECK(scaled(1234) == "1.23K");
  CHECK(scaled(134515008) == "135M");
  CHECK(scaled(999999) == "1.00M");  // not 1000K
  CHECK(scaled(9.999e9) == "10.0B");
  CHECK(scaled(1.24e9) == "1.24B");
  CHECK(scaled(1.236e9, 2) == "1.2B");
  CHECK(scaled(-1.5e12) == "-1.50T");
  CHECK(scaled(5e15) == "5000T");
  CHECK(scaled(NAN) == "nan");
  CHECK(scaled(INFINITY) == "inf");
}

TEST_CASE("join") {
  CHECK(join({}, ", ").empty());
  CHECK(join({"a"}, ", ") == "a");
  CHECK(join({"a", "", "b"}, ", ") == "a, , b");
}
