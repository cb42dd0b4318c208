// The command line as people write it, made plain for the parser: "_" for "-" in names of flags, llama.cpp's flags of
// several letters behind one dash, values that begin with a dash.
#pragma once

#include <string>
#include <vector>

namespace orrery::cli {

std::vector<std::string> plain_arguments(int argc, const char* const* argv);

}  // namespace orrery::cli
