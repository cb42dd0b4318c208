// The command line as people write it, made plain for the parser: "_" for "-" in names of flags, llama.cpp's flags of
// several letters behind one dash, values that begin with a dash.
#pragma once

#include <string>
#include <vector>

namespace orrery::cli {

std::vector<std::string> plain_arguments(int argc, const char* const* argv);

// Where --config FILE is among them, the lines of the file become arguments in front of all but the verb: "steps = 9"
// becomes "--steps=9", "resume = true" or "resume" alone "--resume"; "#" and ";" begin comments. Throws Error for a
// file that cannot be read, and for a line that is none of these.
std::vector<std::string> with_config_file(std::vector<std::string> arguments);

}  // namespace orrery::cli
