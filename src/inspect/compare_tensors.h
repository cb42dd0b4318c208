// How far two tensors are from each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

// The numbers of a tensor, whatever its type was. Rows are those of the last dimension.
struct TensorValues {
  std::vector<int64_t> shape;  // outermost first
  std::vector<double> numbers;

  int64_t width() const { return shape.empty() ? 1 : shape.back(); }
  int64_t n_rows() const { return width() == 0 ? 0 : static_cast<int64_t>(numbers.size()) / width(); }
  const double* row(int64_t i) const { return numbers.data() + i * width(); }
};

std::string shape_text(const TensorValues& values);  // "[8, 576]"

// Infinities of one sign that stand at the same place are the same and count nowhere else. A NaN, or an infinity that
// the other has not, is an infinite difference.
struct TensorComparison {
  bool same_shape = true;        // else nothing below is known
  double max_difference = 0;     // |a - b|
  int64_t worst = -1;            // the element that has it; -1 where all are the same
  double relative = 0;           // the largest, over rows, of max |a - b| / max(max |b|, RMS of all b)
  double nmse = 0;               // sum (a - b)^2 / sum b^2; infinite where only the latter is 0
  double cosine = 1;             // of all elements as one vector; 1 for two that are zero
  double arg_max_agreement = 1;  // share of rows whose largest element stands at the same place
  int64_t n_non_finite = 0;      // elements whose difference is infinite for the reason above
};

TensorComparison compare_tensors(const TensorValues& a, const TensorValues& b);

}  // namespace orrery
