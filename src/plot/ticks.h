// Where the ticks of an axis stand, and what stands at them: see Axis::ticks.
#pragma once

#include <vector>

#include "plot/axis.h"

namespace orrery {

std::vector<Tick> linear_ticks(double low, double high, int at_most);
std::vector<Tick> logarithmic_ticks(double low, double high, int at_most);

}  // namespace orrery
