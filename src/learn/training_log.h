// The history of a run, a line a step, as CSV.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace orrery {

struct LogLine {
  int64_t step = 0;
  int64_t tokens = 0;  // of the step
  double loss = 0;     // nats per token
  double rate = 0;
  double gradient_norm = 0;
  double seconds = 0;                                                 // of the step
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  // after it, where it was measured
};

// Throws Error; the file appears whole or not at all.
void write_log(const std::string& path, const std::vector<LogLine>& lines);
// Lines up to step `last`. Throws Error that names the line that is not one.
std::vector<LogLine> read_log(const std::string& path, int64_t last);

}  // namespace orrery
