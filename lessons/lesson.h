// What the lessons' programs share: a run that ends in one line if something goes wrong, and how numbers are printed.
//
// A number that was measured on this machine or comes out of training is printed with ~ in front. All others are the
// same everywhere (the last digit may differ by one), which `make check-lessons` makes sure of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "claims/claims.h"
#include "cli/session.h"
#include "model/observer.h"
#include "tensor/tensor.h"

namespace orrery::lesson {

inline std::string measured(double value, int decimals) { return "~" + fixed(value, decimals); }

using Matrix = std::vector<std::vector<double>>;  // rows of numbers

// Columns [first, first + count) of an F32 matrix.
inline Matrix columns(const Tensor& tensor, int64_t first, int64_t count) {
  Matrix matrix;
  for (int64_t row = 0; row < tensor.shape[0]; ++row) {
    const float* numbers = values<float>(tensor) + row * tensor.stride[0] + first;
    matrix.emplace_back(numbers, numbers + count);
  }
  return matrix;
}

// The largest between two numbers in the same place.
template <class Number>
double difference(const std::vector<Number>& a, const std::vector<Number>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max<double>(largest, std::abs(a[i] - b[i]));
  return largest;
}
inline double difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, difference(a[i], b[i]));
  return largest;
}
inline double difference(const Tensor& a, const Tensor& b) {
  return difference(columns(a, 0, a.shape[1]), columns(b, 0, b.shape[1]));
}

// A line for each row, with its name in front; of long rows only the first `width` numbers.
inline void print(const char* title, const Matrix& matrix, const std::vector<std::string>& names, size_t width) {
  std::printf("\n%s\n", title);
  for (size_t i = 0; i < matrix.size(); ++i) {
    std::printf("  %-10s", names[i].c_str());
    for (size_t j = 0; j < std::min(width, matrix[i].size()); ++j) std::printf(" %6.2f", matrix[i][j]);
    std::printf("\n");
  }
}

// How far RoPE turns each pair of a head's numbers, in radians per position.
inline std::vector<double> rope_turns(const ModelConfig& config) {
  std::vector<double> turns;
  for (int i = 0; i < config.rope_dims; i += 2) {
    turns.push_back(std::pow(config.rope_base, -static_cast<double>(i) / config.rope_dims));
  }
  return turns;
}

// One forward pass of the model over a text, from its first token on, with somebody who watches.
inline void forward(cli::Session& session, const std::vector<TokenId>& ids, Kernels& kernels, Observer& observer) {
  Observer* const observers[] = {&observer};
  std::vector<Row> rows;
  for (const TokenId id : ids) rows.push_back({id, static_cast<int>(rows.size())});
  session.model->forward(rows, kernels, session.arena, observers);
}

// A line of a table: each cell at the right end of its width, or at the left end where that is negative.
inline void print_row(std::initializer_list<int> widths, std::initializer_list<std::string> cells) {
  const int* width = widths.begin();
  for (const std::string& cell : cells) std::printf(" %*s", *width++, cell.c_str());
  std::printf("\n");
}

// What the source articles say on the lesson's subject, computed again.
inline void check_source(const char* lesson) {
  std::printf("\nThe source's claims, computed again (./orrery claims %s says more):\n", lesson);
  for (const Claim* claim : claims_of_lesson(lesson)) std::printf("  %s\n", claim_line(*claim).c_str());
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
