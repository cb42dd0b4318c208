// Colours of figures. The palette is Okabe and Ito's, which people with any kind of colour vision can tell apart
// (https://jfly.uni-koeln.de/color/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Colour&) const = default;
};

inline constexpr Colour kWhite = {255, 255, 255};
inline constexpr Colour kInk = {38, 38, 38};          // words and axes
inline constexpr Colour kQuiet = {96, 96, 96};        // reference lines, numbers at the axes
inline constexpr Colour kGrid = {222, 222, 222};      // lines at ticks with a label
inline constexpr Colour kFineGrid = {241, 241, 241};  // lines at ticks without one

// How light a colour looks, 0 (black) to 1 (white): the relative luminance of WCAG 2
// (https://www.w3.org/TR/WCAG21/#dfn-relative-luminance).
double luminance(Colour colour);
// kInk or white, whichever can be read better on a background.
Colour words_on(Colour background);

// The colour of the series number `index`; after eight the colours come again.
Colour series_colour(size_t index);
// The nearest of a terminal's 256 colours that can be read on a black and on a white background.
int terminal_colour(size_t index);

// Of a terminal's 256 colours numbers 16 to 255: a cube of 6 x 6 x 6 and a ramp of greys.
Colour colour_of_terminal(int number);
int nearest_terminal_colour(Colour colour);

}  // namespace orrery
