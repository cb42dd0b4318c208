#include "plot/colour_map.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace orrery {
namespace {

// Equally far apart. Those at the same distance from the middle of kDiverging have about the same luminance.
constexpr Colour kSequential[] = {{253, 238, 178}, {178, 222, 178}, {95, 187, 180},
                                  {40, 134, 168},  {34, 78, 134},   {22, 24, 74}};
constexpr Colour kDiverging[] = {{8, 56, 116},    {58, 124, 186}, {156, 196, 226}, {246, 246, 244},
                                 {246, 184, 132}, {206, 100, 28}, {116, 42, 4}};

uint8_t between(uint8_t one, uint8_t other, double share) {
  return static_cast<uint8_t>(std::lround(one + (other - one) * share));
}

}  // namespace

Colour mapped(ColourMap map, double share) {
  const std::span<const Colour> anchors =
      map == ColourMap::sequential ? std::span<const Colour>(kSequential) : kDiverging;
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(anchors.size() - 1);
  const size_t first = std::min(static_cast<size_t>(place), anchors.size() - 2);
  const Colour& one = anchors[first];
  const Colour& other = anchors[first + 1];
  const double rest = place - static_cast<double>(first);
  return {between(one.red, other.red, rest), between(one.green, other.green, rest),
          between(one.blue, other.blue, rest)};
}

}  // namespace orrery
