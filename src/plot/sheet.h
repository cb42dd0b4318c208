// Several figures on one picture.
#pragma once

#include <vector>

#include "plot/canvas.h"

namespace orrery {

// One below the other, each at the left edge; white where one is narrower than the widest. No pixel of theirs changes.
// Throws Error where there are none, and where the picture would be more than 16384 pixels high.
Canvas one_below_the_other(const std::vector<Canvas>& figures);

}  // namespace orrery
