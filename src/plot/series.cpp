#include "plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace orrery {

int window_of(const Series& series) {
  constexpr size_t kLargest = 1001;
  const size_t wanted = series.window > 0 ? static_cast<size_t>(series.window) : series.y.size() / 50;
  return static_cast<int>(std::min(kLargest, wanted | 1));
}

Series smoothed(const Series& series, int window) {
  Series result = series;
  const size_t n = series.y.size();
  const size_t half = static_cast<size_t>(std::max(window, 1)) / 2;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(series.y[i])) continue;
    const size_t reach = std::min({half, i, n - 1 - i});
    double sum = 0;
    double count = 0;
    for (size_t at = i - reach; at <= i + reach; ++at) {
      if (!std::isfinite(series.y[at])) continue;
      sum += series.y[at];
      count += 1;
    }
    result.y[i] = sum / count;
  }
  return result;
}

}  // namespace orrery
