// A trace for other eyes: lines of text that diff understands, and NumPy's files.
#pragma once

#include <string>

#include "inspect/trace.h"

namespace orrery {

// The facts of the header that decide the numbers, a line each, and a line for each tensor: name, type, shape;
// smallest, largest, mean and root of the sum of squares of what is finite; how many are not; the first four. Five
// digits: rounding seldom shows in them.
std::string trace_text(const Trace& trace);

// NAME.npy for each tensor (format 1.0 of numpy.lib.format), BF16 as F32. Makes the folder where it is missing. Throws
// Error for a folder that cannot be made or written to.
void write_npy_files(const std::string& folder, const Trace& trace);

}  // namespace orrery
