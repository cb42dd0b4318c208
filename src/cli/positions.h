// Positions of a prompt, as the command line names them.
#pragma once

#include <string>
#include <vector>

namespace orrery::cli {

// "0-7,12": each must be one of the `count` positions of the prompt. Repetitions do no harm. Throws Error.
std::vector<int> parse_positions(const std::string& text, int count);

}  // namespace orrery::cli
