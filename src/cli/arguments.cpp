#include "cli/arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/mapped_file.h"

namespace orrery::cli {
namespace {

const std::map<std::string, std::string> kLongNames = {
    {"-ctk", "--cache-type-k"},  {"-ctv", "--cache-type-v"},          {"-sys", "--system"},
    {"--temperature", "--temp"}, {"--max-new-tokens", "--n-predict"}, {"--repetition-penalty", "--repeat-penalty"},
};

// Their values may be any text, also one that looks like a flag.
constexpr std::array kTextFlags = {"-p", "--prompt", "-f", "--file", "--stop", "--system"};

bool is_number(const std::string& text) {
  return text.size() > 1 && text[0] == '-' && (std::isdigit(static_cast<unsigned char>(text[1])) || text[1] == '.');
}

// "--top_k=5" becomes "--top-k=5"; values stay as they are.
std::string plain_flag(std::string flag) {
  if (flag.size() < 2 || flag[0] != '-') return flag;
  const size_t end = std::min(flag.find('='), flag.size());
  if (flag[1] == '-') std::replace(flag.begin() + 2, flag.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  const auto found = kLongNames.find(flag.substr(0, end));
  return found == kLongNames.end() ? flag : found->second + flag.substr(end);
}

bool takes_any_text(const std::string& flag) {
  return std::find(kTextFlags.begin(), kTextFlags.end(), flag) != kTextFlags.end();
}

// CLI11 takes "--long=value" and "-s", "value", but reads a value with a dash as a flag.
std::string long_name(const std::string& flag) {
  static const std::map<std::string, std::string> names = {
      {"-p", "--prompt"},   {"-f", "--file"}, {"-n", "--n-predict"}, {"-t", "--threads"},
      {"-c", "--ctx-size"}, {"-s", "--seed"}, {"-d", "--depth"},     {"-r", "--repetitions"},
  };
  const auto found = names.find(flag);
  return found == names.end() ? flag : found->second;
}

constexpr size_t kLongestConfig = size_t{1} << 20;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// "" where the line says nothing.
std::string argument_of(const std::string& line, const std::string& where) {
  const std::string text = trimmed(line.substr(0, line.find_first_of("#;")));
  if (text.empty()) return "";
  const size_t equals = text.find('=');
  const std::string name = trimmed(text.substr(0, equals));
  const std::string value = equals == std::string::npos ? "true" : trimmed(text.substr(equals + 1));
  if (!is_name(name) || value.empty()) {
    throw Error({.what = "this is no option", .where = where, .expected = "NAME = VALUE", .found = "'" + text + "'"});
  }
  return plain_flag("--" + name) + (value == "true" ? "" : "=" + value);
}

std::vector<std::string> config_arguments(const std::string& path) {
  std::vector<std::string> arguments;
  std::istringstream lines(read_file(path, kLongestConfig));
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    std::string argument = argument_of(line, path + ", line " + std::to_string(n));
    if (!argument.empty()) arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

std::vector<std::string> with_config_file(std::vector<std::string> arguments) {
  const std::string flag = "--config";
  for (size_t i = 1; i < arguments.size(); ++i) {
    const bool is_joined = arguments[i].starts_with(flag + "=");
    if (!is_joined && (arguments[i] != flag || i + 1 == arguments.size())) continue;
    const auto lines = config_arguments(is_joined ? arguments[i].substr(flag.size() + 1) : arguments[i + 1]);
    arguments.insert(arguments.begin() + 1, lines.begin(), lines.end());
    return arguments;
  }
  return arguments;
}

std::vector<std::string> plain_arguments(int argc, const char* const* argv) {
  std::vector<std::string> result;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = plain_flag(argv[i]);
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    const bool is_flag = flag.size() > 1 && flag[0] == '-' && flag.find('=') == std::string::npos;
    if (is_flag && next.size() > 0 && next[0] == '-' && (takes_any_text(flag) || is_number(next))) {
      result.push_back(long_name(flag) + "=" + next);
      ++i;
    } else {
      result.push_back(flag);
    }
  }
  return result;
}

}  // namespace orrery::cli
