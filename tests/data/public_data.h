// The public data that "make check-data" is given.
#pragma once

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace orrery::test {

inline std::string data_path(const std::string& name) {
  const char* folder = std::getenv("ORRERY_DATA");
  REQUIRE_MESSAGE(folder != nullptr, "ORRERY_DATA must name the folder of the public data");
  return std::string(folder) + "/" + name;
}

}  // namespace orrery::test
