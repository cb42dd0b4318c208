// safetensors files for tests, also ones that no writer would write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::test {

struct SafetensorsBuilder {
  std::string entries;  // of the header
  std::string data;

  static std::string list(const std::vector<int64_t>& numbers) {
    std::string text = "[";
    for (const int64_t number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
    return text + "]";
  }
  // One entry as it is given; `name` must need no escapes.
  SafetensorsBuilder& entry(std::string_view name, std::string_view type, const std::string& shape, int64_t begin,
                            int64_t end) {
    entries += (entries.empty() ? "" : ",") + ("\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(type)) +
               "\",\"shape\":" + shape + ",\"data_offsets\":" + list({begin, end}) + "}";
    return *this;
  }
  // The same with data behind what is there.
  SafetensorsBuilder& tensor(std::string_view name, std::string_view type, const std::vector<int64_t>& shape,
                             std::string_view bytes) {
    const auto begin = static_cast<int64_t>(data.size());
    data += bytes;
    return entry(name, type, list(shape), begin, static_cast<int64_t>(data.size()));
  }
  SafetensorsBuilder& floats(std::string_view name, const std::vector<int64_t>& shape,
                             const std::vector<float>& values) {
    return tensor(name, "F32", shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }

  static std::string with_header(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
  }
  std::string bytes() const {
    std::string header = "{" + entries + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return with_header(header, data);
  }
};

}  // namespace orrery::test
