#include "base/debugger.h"

#include <fstream>
#include <string>

namespace orrery {

// The kernel writes "TracerPid:", a tab, and the tracer's process id, 0 where there is none (proc(5)).
bool is_debugged() {
  std::ifstream status("/proc/self/status");
  const std::string key = "TracerPid:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return line != key + "0";
  }
  return false;
}

}  // namespace orrery
