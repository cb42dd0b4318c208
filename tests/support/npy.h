// .npy files for tests, also ones that numpy would not write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::test {

inline std::string npy_with_header(const std::string& header, std::string_view data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const auto length = static_cast<uint32_t>(header.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return file + header + std::string(data);
}

// descr "<f4" or "<f8", shape "(2, 3)".
inline std::string npy_file(const std::string& descr, const std::string& shape, const std::vector<double>& numbers,
                            int version = 1) {
  std::string data;
  for (const double number : numbers) {
    const auto narrow = static_cast<float>(number);
    if (descr == "<f8") data.append(reinterpret_cast<const char*>(&number), sizeof number);
    if (descr == "<f4") data.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  }
  return npy_with_header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data,
                         version);
}

}  // namespace orrery::test
