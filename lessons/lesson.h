// What the lessons' programs share: a run that ends in one line if something goes wrong, and how numbers are printed.
//
// A number that was measured on this machine or comes out of training is printed with ~ in front. All others are the
// same everywhere (the last digit may differ by one), which `make check-lessons` makes sure of.
#pragma once

#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>

#include "base/error.h"
#include "base/format.h"

namespace orrery::lesson {

inline std::string measured(double value, int decimals) { return "~" + fixed(value, decimals); }

// A line of a table: each cell at the right end of its width, or at the left end where that is negative.
inline void print_row(std::initializer_list<int> widths, std::initializer_list<std::string> cells) {
  const int* width = widths.begin();
  for (const std::string& cell : cells) std::printf(" %*s", *width++, cell.c_str());
  std::printf("\n");
}

// Calls `teach` with the place where the picture shall go: `--figure FILE`, or "" where none is wanted.
inline int run(int argc, char** argv, const std::function<void(const std::string& figure)>& teach) {
  try {
    const std::string flag = argc > 1 ? argv[1] : "";
    if (argc != 1 && !(argc == 3 && flag == "--figure")) {
      throw Error({.what = "a lesson takes no arguments but --figure FILE.png", .found = "'" + flag + "'"});
    }
    teach(argc == 3 ? argv[2] : "");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace orrery::lesson
