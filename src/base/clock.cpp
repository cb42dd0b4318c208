#include "base/clock.h"

#include <chrono>

namespace orrery {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace orrery
