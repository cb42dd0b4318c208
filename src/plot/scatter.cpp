#include "plot/scatter.h"

#include "base/error.h"

namespace orrery {

LineFigure figure_of(const Scatter& scatter) {
  const size_t n = scatter.places.size();
  if (scatter.kind_of.size() != n || (!scatter.names.empty() && scatter.names.size() != n)) {
    throw Error({.what = "every point needs a kind, and all or none a name",
                 .expected = std::to_string(n) + " of each",
                 .found = std::to_string(scatter.kind_of.size()) + " kinds, " + std::to_string(scatter.names.size()) +
                          " names"});
  }
  LineFigure figure = {.title = scatter.title};
  for (const std::string& kind : scatter.kinds) figure.series.push_back({.name = kind, .style = Style::points});
  for (size_t i = 0; i < n; ++i) {
    const int kind = scatter.kind_of[i];
    const std::vector<double>& place = scatter.places[i];
    if (kind < 0 || static_cast<size_t>(kind) >= scatter.kinds.size() || place.size() != 2) {
      throw Error({.what = "a point is two numbers, and of one of the kinds",
                   .where = "point " + std::to_string(i),
                   .expected = "a kind from 0 to " + std::to_string(static_cast<int>(scatter.kinds.size()) - 1),
                   .found = "kind " + std::to_string(kind) + ", " + std::to_string(place.size()) + " numbers"});
    }
    figure.series[static_cast<size_t>(kind)].x.push_back(place[0]);
    figure.series[static_cast<size_t>(kind)].y.push_back(place[1]);
    if (!scatter.names.empty() && !scatter.names[i].empty()) {
      figure.points.push_back({scatter.names[i], place[0], place[1]});
    }
  }
  return figure;
}

}  // namespace orrery
