// Points and the kinds that they are of: whether kinds lie together.
#pragma once

#include <span>
#include <vector>

namespace orrery {

// The share of points whose nearest other point is of the same kind; nearest by cosine, the direction alone. Of equally
// near ones each counts in part. `points` [n][d], `kinds` [n]. Throws Error where there are not as many kinds as
// points, or fewer than two points.
double same_kind_share(const std::vector<std::vector<double>>& points, std::span<const int> kinds);

}  // namespace orrery
