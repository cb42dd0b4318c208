// What the two ways to draw a HeatMap share.
#pragma once

#include <optional>

#include "plot/heat_map.h"

namespace orrery {

void check(const HeatMap& figure);  // throws Error
Axis values_axis(const HeatMap& figure);

// From 0 to 1 for the colour map; `value` must be one that the axis can show.
double share_of(const Axis& axis, double value);

// A matrix, or the means of its neighbouring cells where there are too many of them.
class Blocks {
 public:
  // At most so many rows and columns.
  Blocks(const HeatMap& figure, const HeatMapPanel& panel, const Axis& axis, size_t rows, size_t columns);
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  // Nothing where no cell exists; NaN where none of those that exist can be shown.
  std::optional<double> at(size_t row, size_t column) const;
  // The first row of the matrix that this row shows; `rows()` itself stands for the end.
  size_t first_row(size_t row) const { return row * figure_.n_rows / rows_; }
  size_t first_column(size_t column) const { return column * figure_.n_columns / columns_; }

 private:
  const HeatMap& figure_;
  const HeatMapPanel& panel_;
  const Axis& axis_;
  size_t rows_;
  size_t columns_;
};

}  // namespace orrery
