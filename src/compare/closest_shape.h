// Models of equally many parameters.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace orrery {

// The shape whose number of parameters is the closest to the wanted one; of equally close ones the first, from narrow
// to wide. `of_width` lists those of one width, smallest first, and may list none; wider ones only have more.
template <class OfWidth>
auto closest_shape(int64_t parameters, int step, int widest, const OfWidth& of_width) {
  typename decltype(of_width(step))::value_type best;
  int64_t least = -1;
  for (int width = step; width <= widest; width += step) {
    int64_t smallest = -1;
    for (const auto& shape : of_width(width)) {
      const int64_t count = shape.parameters(), difference = std::abs(count - parameters);
      if (smallest < 0) smallest = count;
      if (least >= 0 && difference >= least) continue;
      least = difference;
      best = shape;
    }
    if (smallest > parameters) break;
  }
  return best;
}

}  // namespace orrery
