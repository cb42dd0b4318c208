// What a figure's data is compared with.
#pragma once

#include <string>

namespace orrery {

// A horizontal line: a known optimum, a limit.
struct Level {
  std::string name;
  double y = 0;
};

// A vertical line with its name beside it: where something happened.
struct Moment {
  std::string name;
  double x = 0;
};

// A mark with its name beside it.
struct MarkedPoint {
  std::string name;
  double x = 0;
  double y = 0;
};

}  // namespace orrery
