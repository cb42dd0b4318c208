// The command line as people write it, made plain for the parser: "_" for "-" in names of flags, llama.cpp's flags of
// several letters behind one dash, values that begin with a dash.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace orrery::cli {

std::vector<std::string> plain_arguments(int argc, const char* const* argv);

struct ConfigLine {  // of a file with options
  std::string name;
  std::vector<std::string> values;
};
using ReadConfig = std::function<std::vector<ConfigLine>(const std::string& path)>;

// The lines of the file that --config names become arguments in front of all others, behind the verb.
std::vector<std::string> with_config_file(std::vector<std::string> arguments, const ReadConfig& read);

}  // namespace orrery::cli
