#include "inspect/tensor_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/format.h"
#include "model/language_model.h"

namespace orrery {
namespace {

constexpr size_t kRows = 4;     // that are shown
constexpr int64_t kValues = 8;  // of each

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

// "[1, 5]": the element's place in each dimension.
std::string place(const Tensor& tensor, int64_t index) {
  std::string text;
  for (int d = tensor.n_dims; d-- > 0; index /= tensor.shape[d]) {
    text = std::to_string(index % tensor.shape[d]) + (text.empty() ? "" : ", ") + text;
  }
  return "[" + text + "]";
}

std::string positions_text(std::span<const Row> rows) {
  if (rows.size() == 1) return "position " + std::to_string(rows[0].position);
  return "positions " + std::to_string(rows.front().position) + " to " + std::to_string(rows.back().position);
}

std::string not_finite(const Tensor& tensor, const TensorSummary& summary) {
  std::string text;
  const auto add = [&](int64_t count, const char* what, int64_t first) {
    if (count == 0) return;
    text += "  " + std::to_string(count) + " " + what + (first >= 0 ? ", the first at " + place(tensor, first) : "");
    text += "\n";
  };
  add(summary.n_nan, "NaN", summary.first_nan);
  add(summary.n_infinite + summary.n_minus_infinite, summary.n_infinite == 0 ? "-infinity" : "infinite",
      summary.first_infinite);
  return text;
}

}  // namespace

TensorSummary summarize(const Tensor& tensor) {
  TensorSummary summary;
  double sum = 0;
  for (int64_t i = 0; i < n_elements(tensor); ++i) {
    const double value = element(tensor, i);
    if (std::isnan(value)) {
      if (summary.n_nan++ == 0) summary.first_nan = i;
    } else if (std::isinf(value)) {
      if (summary.first_infinite < 0) summary.first_infinite = i;
      ++(value > 0 ? summary.n_infinite : summary.n_minus_infinite);
    } else {
      summary.smallest = summary.n_finite == 0 ? value : std::min(summary.smallest, value);
      summary.largest = summary.n_finite == 0 ? value : std::max(summary.largest, value);
      sum += value;
      ++summary.n_finite;
    }
  }
  if (summary.n_finite > 0) summary.mean = sum / static_cast<double>(summary.n_finite);
  return summary;
}

int64_t row_of(const Tensor& tensor, int64_t index) {
  const int64_t width = tensor.shape[tensor.n_dims - 1];
  const int64_t n = tensor.n_dims < 2 ? 1 : tensor.shape[tensor.n_dims - 2];
  return index / width % n;
}

std::string tensor_report(const Probe& probe, const Tensor& tensor, std::span<const int64_t> rows) {
  const TensorSummary summary = summarize(tensor);
  std::string text = std::string(probe.name) + "  " + info(tensor.dtype).name + " " + shape_text(tensor);
  if (probe.layer >= 0) text += ", layer " + std::to_string(probe.layer);
  if (!probe.rows.empty()) text += ", " + positions_text(probe.rows);
  text += "\n  smallest " + short_number(summary.smallest) + ", largest " + short_number(summary.largest) + ", mean " +
          short_number(summary.mean) + "\n" + not_finite(tensor, summary);
  const int64_t width = tensor.shape[tensor.n_dims - 1];
  for (size_t i = 0; i < std::min(kRows, rows.size()); ++i) {
    const auto row = static_cast<size_t>(rows[i]);
    text += "  position " + std::to_string(probe.rows[row].position) + (tensor.n_dims == 3 ? ", head 0:" : ":");
    for (int64_t j = 0; j < std::min(width, kValues); ++j) {
      text += " " + short_number(element(tensor, rows[i] * width + j));
    }
    text += width > kValues ? " ...\n" : "\n";
  }
  if (rows.size() > kRows) text += "  ... and " + std::to_string(rows.size() - kRows) + " more positions\n";
  return text;
}

}  // namespace orrery
