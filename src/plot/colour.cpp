#include "plot/colour.h"

#include <iterator>

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

Colour series_colour(size_t index) { return kPalette[index % std::size(kPalette)].colour; }
int terminal_colour(size_t index) { return kPalette[index % std::size(kPalette)].terminal; }

}  // namespace orrery
