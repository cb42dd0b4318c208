// Numbers as colours that people with any kind of colour vision can read, also printed in grey.
#pragma once

#include "plot/colour.h"

namespace orrery {

enum class ColourMap {
  sequential,  // from little to much: from pale yellow to dark blue, ever darker
  diverging,   // from below zero to above: blue, nearly white, orange; both sides get darker alike
};

// `share`: from 0, the lowest value, to 1, the highest.
Colour mapped(ColourMap map, double share);

}  // namespace orrery
