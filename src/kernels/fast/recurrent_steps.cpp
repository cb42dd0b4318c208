#include "kernels/fast/recurrent_steps.h"

#include <numeric>

namespace orrery {

SequencesByLength::SequencesByLength(std::span<const RowRange> sequences) : lines_(sequences.size()) {
  std::iota(lines_.begin(), lines_.end(), 0);
  const auto length = [&](int64_t line) { return sequences[static_cast<size_t>(line)].count; };
  std::ranges::stable_sort(lines_, [&](int64_t a, int64_t b) { return length(a) > length(b); });
  for (const int64_t line : lines_) firsts_.push_back(sequences[static_cast<size_t>(line)].first);
  const int64_t n_steps = lines_.empty() ? 0 : length(lines_.front());
  int64_t going = count();
  for (int64_t step = 0; step < n_steps; ++step) {
    while (length(lines_[static_cast<size_t>(going - 1)]) <= step) --going;
    going_.push_back(going);
  }
}

void StepMatrix::pack_rows(const Threads& threads, const StoredRows& rows) {
  std::vector<float> widened(rows.dtype == DType::F32 ? 0 : static_cast<size_t>(rows.n_rows * rows.n));
  const FloatRows floats = as_floats(loops_, rows, widened.data());
  depth_ = rows.n;
  pack_columns(threads, floats.data, floats.stride, 1, rows.n_rows);
}

void StepMatrix::pack(const Threads& threads, const Tensor& w) {
  depth_ = w.shape[0];
  pack_columns(threads, values<float>(w), 1, w.stride[0], w.shape[1]);
}

void StepMatrix::pack_columns(const Threads& threads, const float* w, int64_t column_stride, int64_t depth_stride,
                              int64_t n_columns) {
  const int64_t n_panels = (n_columns + kPanelColumns - 1) / kPanelColumns;
  packed_.assign(static_cast<size_t>(n_panels * depth_ * kPanelColumns), 0.0f);
  threads.parallel_for(n_panels, 1, [&](int64_t panel, int64_t) {
    float* to = packed_.data() + panel * depth_ * kPanelColumns;
    const int64_t first = panel * kPanelColumns, count = std::min<int64_t>(kPanelColumns, n_columns - first);
    for (int64_t l = 0; l < depth_; ++l) {
      for (int64_t j = 0; j < count; ++j) {
        to[l * kPanelColumns + j] = w[(first + j) * column_stride + l * depth_stride];
      }
    }
  });
}

void StepMatrix::multiply(FloatRows a, int64_t n_rows, int64_t first, int64_t n, float* y, int64_t y_stride) const {
  if (packed_.empty()) {
    StoredRows rows = rows_;
    rows.data += first * rows.row_bytes;
    rows.n_rows = n;
    dots(loops_, rows, a, n_rows, y, y_stride);
    return;
  }
  for (int64_t j = 0; j < n; j += kPanelColumns) {
    recurrent_.multiply_panel({.a = a.data,
                               .a_stride = a.stride,
                               .n_rows = n_rows,
                               .depth = depth_,
                               .packed = packed_.data() + (first + j) * depth_,
                               .c = y + j,
                               .c_stride = y_stride});
  }
}

}  // namespace orrery
