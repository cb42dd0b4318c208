#include "plot/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace orrery {

bool is_finite(Point point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Point between(Point from, Point to, double share) {
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

Visible visible_part(Point from, Point to, const Box& box) {
  constexpr Visible kNothing = {1, 0};
  if (!is_finite(from) || !is_finite(to)) return kNothing;
  Visible part;
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  // Four edges: how fast the line goes out through each, and how far inside it starts.
  const double outwards[] = {-dx, dx, -dy, dy};
  const double inside[] = {from.x - box.left, box.right - from.x, from.y - box.top, box.bottom - from.y};
  for (int edge = 0; edge < 4; ++edge) {
    if (outwards[edge] == 0) {
      if (inside[edge] < 0) return kNothing;
      continue;
    }
    const double share = inside[edge] / outwards[edge];
    if (outwards[edge] < 0) part.begin = std::max(part.begin, share);
    if (outwards[edge] > 0) part.end = std::min(part.end, share);
  }
  return part.is_empty() ? kNothing : part;
}

std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> kept;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin + 1;
    size_t lowest = begin;
    size_t highest = begin;
    const double column = std::floor(points[begin].x);
    while (is_finite(points[begin]) && end < points.size() && is_finite(points[end]) &&
           std::floor(points[end].x) == column) {
      if (points[end].y < points[highest].y) highest = end;
      if (points[end].y > points[lowest].y) lowest = end;
      ++end;
    }
    size_t chosen[] = {begin, lowest, highest, end - 1};
    std::sort(std::begin(chosen), std::end(chosen));
    for (int i = 0; i < 4; ++i) {
      if (i == 0 || chosen[i] != chosen[i - 1]) kept.push_back(points[chosen[i]]);
    }
    begin = end;
  }
  return kept;
}

}  // namespace orrery
