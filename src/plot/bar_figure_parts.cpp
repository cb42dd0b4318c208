#include "plot/bar_figure_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace orrery {

void check(const BarFigure& figure) {
  for (const BarSeries& series : figure.series) {
    if (series.values.size() == figure.names.size()) continue;
    throw Error({.what = "a series of bars needs one value for each name",
                 .where = series.name,
                 .expected = std::to_string(figure.names.size()) + " values",
                 .found = std::to_string(series.values.size())});
  }
  if (figure.style == BarStyle::stacked && figure.values.scale == Scale::logarithmic) {
    throw Error({.what = "bars cannot be stacked on a logarithmic axis",
                 .where = figure.title,
                 .hint = "lengths do not add up there: group them"});
  }
}

std::vector<Bar> bars_of(const BarFigure& figure, const Axis& values) {
  const double base = values.scale() == Scale::logarithmic ? values.low() : 0;
  std::vector<Bar> bars;
  for (size_t name = 0; name < figure.names.size(); ++name) {
    double above = 0;  // the ends of the stack
    double below = 0;
    for (size_t i = 0; i < figure.series.size(); ++i) {
      const double value = figure.series[i].values[name];
      if (!can_show(values.scale(), value)) continue;
      if (figure.style != BarStyle::stacked) {
        bars.push_back({name, i, base, value});
        continue;
      }
      double& end = value < 0 ? below : above;
      if (std::isfinite(end + value)) bars.push_back({name, i, end, end + value});
      if (std::isfinite(end + value)) end += value;
    }
  }
  return bars;
}

double sum_of(const BarFigure& figure, size_t name) {
  double sum = std::numeric_limits<double>::quiet_NaN();
  for (const BarSeries& series : figure.series) {
    const double value = series.values[name];
    if (std::isfinite(value)) sum = std::isnan(sum) ? value : sum + value;
  }
  return sum;
}

Axis values_axis(const BarFigure& figure, double room) {
  const bool is_log = figure.values.scale == Scale::logarithmic;
  std::vector<double> values;
  for (const Level& level : figure.levels) values.push_back(level.y);
  const Axis unit(figure.values.scale, 1, 10);  // only its scale counts here
  for (const Bar& bar : bars_of(figure, unit)) {
    values.push_back(bar.to);
    if (!is_log) values.push_back(bar.from);
  }
  const Axis data = Axis::around(values, figure.values);
  AxisOptions options = figure.values;
  if (is_log) {
    // A bar of the smallest value shall be seen, too.
    if (!options.low) options.low = std::pow(10, std::floor(std::log10(data.low()) - 0.2));
    if (!options.high) options.high = std::min(1e299, data.high() * std::pow(data.high() / *options.low, room));
  } else {
    if (!options.high && data.high() > 0) options.high = data.high() + room * (data.high() - data.low());
    if (!options.low && data.low() < 0) options.low = data.low() - room * (data.high() - data.low());
  }
  return Axis::around(values, options);
}

}  // namespace orrery
