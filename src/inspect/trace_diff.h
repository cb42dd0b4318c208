// Two traces, tensor by tensor, in the order in which a forward pass computes them: the first that differs is where to
// look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/compare_tensors.h"
#include "inspect/trace.h"

namespace orrery {

// A bug or rounding? In double precision there is nearly no rounding, so the distance of the plain float kernels from
// them is what rounding does to this tensor for this prompt. What is more than ten times as far away has a bug.
struct Noise {
  double expected = 0;  // NMSE of the float reference kernels against the double ones
  double a = 0, b = 0;  // NMSE of each trace against the double ones
  bool is_bug_in_a() const { return a > kMostNoise * expected; }
  bool is_bug_in_b() const { return b > kMostNoise * expected; }
  static constexpr double kMostNoise = 10;
};

struct TensorVerdict {
  std::string name;
  std::vector<int64_t> shape_a, shape_b;  // brought to one form
  std::vector<int> positions;             // of the rows that were compared
  TensorComparison comparison;            // of a with b
  std::optional<Noise> noise;
  bool agrees = false;
};

struct TraceDiff {
  std::vector<TensorVerdict> tensors;  // those that both have, in the order of computation
  std::vector<std::string> only_in_a, only_in_b;
  const TensorVerdict* first_mismatch() const;  // nullptr where there is none
  const TensorVerdict* find(std::string_view name) const;
};

struct DiffSettings {
  double tolerance = 1e-4;  // of TensorComparison::relative, for tensors whose noise is not known
  // The prompt once more, with the reference kernels in float and in double: then Noise decides.
  const Trace* single = nullptr;
  const Trace* twofold = nullptr;
};

TraceDiff compare_traces(const Trace& a, const Trace& b, const DiffSettings& settings = {});

// A tensor of both, the rows of the positions that both have (all rows, side by side as they stand, where they have
// none in common). Heads are those that either header knows of.
struct TensorPair {
  TensorValues a, b;
  std::vector<int> positions;
};
std::optional<TensorPair> matched_tensors(const Trace& a, const Trace& b, std::string_view name);

}  // namespace orrery
