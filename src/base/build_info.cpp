#include "base/build_info.h"

namespace orrery {

const BuildInfo& build_info() {
  static constexpr BuildInfo info = {
#include "build_info.inc"  // written by make
  };
  return info;
}

}  // namespace orrery
