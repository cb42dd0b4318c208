#include "plot/colour.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace orrery {
namespace {

struct Named {
  Colour colour;
  int terminal;
};

constexpr Named kPalette[] = {
    {{0x00, 0x72, 0xB2}, 32},   // blue
    {{0xD5, 0x5E, 0x00}, 166},  // vermillion
    {{0x00, 0x9E, 0x73}, 36},   // bluish green
    {{0xCC, 0x79, 0xA7}, 175},  // reddish purple
    {{0xE6, 0x9F, 0x00}, 178},  // orange
    {{0x56, 0xB4, 0xE9}, 74},   // sky blue
    {{0x00, 0x00, 0x00}, 244},  // black; grey where the background may be black
    {{0xF0, 0xE4, 0x42}, 185},  // yellow, pale on white: last
};

}  // namespace

double luminance(Colour colour) {
  const auto light = [](uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * light(colour.red) + 0.7152 * light(colour.green) + 0.0722 * light(colour.blue);
}

Colour words_on(Colour background) {
  const double light = luminance(background) + 0.05;
  return 1.05 / light > light / (luminance(kInk) + 0.05) ? kWhite : kInk;
}

Colour series_colour(size_t index) { return kPalette[index % std::size(kPalette)].colour; }
Colour colour_of_terminal(int number) {
  constexpr uint8_t kSteps[] = {0, 95, 135, 175, 215, 255};
  if (number >= 232) {
    const auto grey = static_cast<uint8_t>(8 + 10 * (number - 232));
    return {grey, grey, grey};
  }
  const int cube = number - 16;
  return {kSteps[cube / 36 % 6], kSteps[cube / 6 % 6], kSteps[cube % 6]};
}

int nearest_terminal_colour(Colour colour) {
  int nearest = 16;
  int least = std::numeric_limits<int>::max();
  for (int number = 16; number < 256; ++number) {
    const Colour candidate = colour_of_terminal(number);
    const int red = candidate.red - colour.red;
    const int green = candidate.green - colour.green;
    const int blue = candidate.blue - colour.blue;
    const int distance = red * red + green * green + blue * blue;
    if (distance < least) nearest = number;
    least = std::min(least, distance);
  }
  return nearest;
}

int terminal_colour(size_t index) { return kPalette[index % std::size(kPalette)].terminal; }

}  // namespace orrery
