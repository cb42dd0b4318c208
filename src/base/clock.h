// Time for measuring.
#pragma once

namespace orrery {

double seconds_now();  // since some fixed moment; never goes backwards

}  // namespace orrery
