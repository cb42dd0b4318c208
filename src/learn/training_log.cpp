#include "learn/training_log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_file.h"

namespace orrery {
namespace {

constexpr std::string_view kHeader = "step,tokens,loss,learning_rate,gradient_norm,seconds,validation_loss";
constexpr size_t kLongestLog = size_t{1} << 30;

// The shortest digits that give the same number again; nothing for NaN.
std::string number_text(double value) {
  if (std::isnan(value)) return "";
  std::array<char, 40> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

// `otherwise` where the text is no number.
template <class Number>
Number number(std::string_view text, Number otherwise) {
  Number value = otherwise;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

std::vector<std::string_view> cut(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void write_log(const std::string& path, const std::vector<LogLine>& lines) {
  OutputFile file(path);
  file.write(std::string(kHeader) + "\n");
  for (const LogLine& line : lines) {
    file.write(std::to_string(line.step) + "," + std::to_string(line.tokens) + "," + number_text(line.loss) + "," +
               number_text(line.rate) + "," + number_text(line.gradient_norm) + "," + number_text(line.seconds) + "," +
               number_text(line.validation_loss) + "\n");
  }
  file.commit();
}

std::vector<LogLine> read_log(const std::string& path, int64_t last) {
  const std::string text = read_file(path, kLongestLog);
  std::vector<LogLine> lines;
  int n = 0;
  for (const std::string_view line : cut(text, '\n')) {
    const auto parts = cut(line, ',');
    if (++n == 1 || line.empty()) continue;
    LogLine entry;
    if (parts.size() == 7) {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      entry = {.step = number<int64_t>(parts[0], 0),
               .tokens = number<int64_t>(parts[1], 0),
               .loss = number(parts[2], kNone),
               .rate = number(parts[3], kNone),
               .gradient_norm = number(parts[4], kNone),
               .seconds = number(parts[5], kNone),
               .validation_loss = number(parts[6], kNone)};
    }
    if (parts.size() != 7 || entry.step != static_cast<int64_t>(lines.size()) + 1) {
      throw Error({.what = "this is no line of a training log",
                   .where = path + ", line " + std::to_string(n),
                   .expected = std::string(kHeader) + ", steps from 1 on",
                   .found = std::string(line.substr(0, 60))});
    }
    if (entry.step > last) break;
    lines.push_back(entry);
  }
  return lines;
}

}  // namespace orrery
