#include "plot/heat_map_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace orrery {
namespace {

void check_names(const std::vector<std::string>& names, size_t n, const char* what) {
  if (names.empty() || names.size() == n) return;
  throw Error({.what = std::string("a heat map needs a name for each ") + what + ", or none",
               .expected = std::to_string(n) + " names",
               .found = std::to_string(names.size())});
}

bool exists(const HeatMapPanel& panel, size_t cell) { return panel.is_missing.empty() || panel.is_missing[cell] == 0; }

}  // namespace

void check(const HeatMap& figure) {
  check_names(figure.row_names, figure.n_rows, "row");
  check_names(figure.column_names, figure.n_columns, "column");
  // Compared by division: the product may be too large for its type.
  const auto has_shape = [&](size_t n) {
    if (figure.n_rows == 0 || figure.n_columns == 0) return n == 0;
    return n % figure.n_columns == 0 && n / figure.n_columns == figure.n_rows;
  };
  for (const HeatMapPanel& panel : figure.panels) {
    const bool is_mask_right = panel.is_missing.empty() || panel.is_missing.size() == panel.values.size();
    if (has_shape(panel.values.size()) && is_mask_right) continue;
    throw Error({.what = "a panel of a heat map has another shape than the figure",
                 .where = panel.title,
                 .expected = std::to_string(figure.n_rows) + " x " + std::to_string(figure.n_columns) + " values",
                 .found = std::to_string(panel.values.size()) + " values, " + std::to_string(panel.is_missing.size()) +
                          " in is_missing"});
  }
  if (figure.colours == ColourMap::diverging && figure.values.scale == Scale::logarithmic) {
    throw Error({.what = "a diverging colour map needs a linear scale", .where = figure.title});
  }
}

Axis values_axis(const HeatMap& figure) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const HeatMapPanel& panel : figure.panels) {
    for (size_t i = 0; i < panel.values.size(); ++i) {
      const double value = panel.values[i];
      if (!exists(panel, i) || !can_show(figure.values.scale, value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double farthest = std::max(std::abs(low), std::abs(high));
  AxisOptions options = figure.values;
  if (figure.colours == ColourMap::diverging && std::isfinite(farthest)) {
    const double end = std::clamp(farthest, 1e-280, 1e280);
    if (!options.low) options.low = options.high ? -*options.high : -end;
    if (!options.high) options.high = -*options.low;
  } else if (high < low && figure.values.scale == Scale::linear) {
    if (!options.low && !options.high) options.low = 0, options.high = 1;
  } else if (high - low > farthest * 1e-9 && farthest < 1e280) {
    if (!options.low && (!options.high || low < *options.high)) options.low = low;
    if (!options.high && high > *options.low) options.high = high;
  }
  return Axis::around({low, high}, options);
}

double share_of(const Axis& axis, double value) { return std::clamp(axis.position(value), 0.0, 1.0); }

Blocks::Blocks(const HeatMap& figure, const HeatMapPanel& panel, const Axis& axis, size_t rows, size_t columns)
    : figure_(figure),
      panel_(panel),
      axis_(axis),
      rows_(std::min(rows, figure.n_rows)),
      columns_(std::min(columns, figure.n_columns)) {}

std::optional<double> Blocks::at(size_t row, size_t column) const {
  double sum = 0;
  double n_shown = 0;
  bool is_there = false;
  for (size_t r = first_row(row); r < first_row(row + 1); ++r) {
    for (size_t c = first_column(column); c < first_column(column + 1); ++c) {
      const size_t cell = r * figure_.n_columns + c;
      if (!exists(panel_, cell)) continue;
      is_there = true;
      if (!can_show(axis_.scale(), panel_.values[cell])) continue;
      sum += panel_.values[cell];
      n_shown += 1;
    }
  }
  if (!is_there) return std::nullopt;
  return n_shown > 0 ? sum / n_shown : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace orrery
