// Numbers as people read them. None of these depends on the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

std::string with_separators(int64_t value);        // 1,234,567
std::string bytes_text(uint64_t bytes);            // "17 B", "1.5 MiB": powers of 1024
std::string fixed(double value, int decimals);     // "3.14"; "nan", "inf"
std::string scaled(double value, int digits = 3);  // "134M", "1.24B": counts of parameters
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace orrery
