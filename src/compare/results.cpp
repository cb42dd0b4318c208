#include "compare/results.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "compare/table.h"
#include "files/json_values.h"

namespace orrery {
namespace {

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string numbers_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + number_text(value);
  return "[" + text + "]";
}

}  // namespace

const std::vector<double>& Findings::list(const std::string& name) const {
  static const std::vector<double> kNone;
  const auto found = numbers.find(name);
  return found == numbers.end() ? kNone : found->second;
}

double Findings::number(const std::string& name) const {
  const std::vector<double>& values = list(name);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.front();
}

const std::string& Findings::word(const std::string& name) const {
  static const std::string kNone;
  const auto found = words.find(name);
  return found == words.end() ? kNone : found->second;
}

ResultStore::ResultStore(const std::string& folder, const std::string& key, bool begins_anew) : key_(key) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error({.what = "this folder cannot be made", .where = folder, .found = error.message()});
  const std::string hash = sha256(std::as_bytes(std::span(key))).substr(0, 8);
  path_ = (std::filesystem::path(folder) / ("results-" + hash + ".json")).string();
  remove_leftovers(path_);
  if (!begins_anew && std::filesystem::exists(path_, error)) read();
}

const Findings* ResultStore::find(const std::string& piece) const {
  const auto found = pieces_.find(piece);
  return found == pieces_.end() ? nullptr : &found->second;
}

const Findings& ResultStore::at(const std::string& piece) const {
  static const Findings kNone;
  const Findings* found = find(piece);
  return found == nullptr ? kNone : *found;
}

void ResultStore::put(const std::string& piece, Findings findings) {
  pieces_[piece] = std::move(findings);
  write();
}

void ResultStore::read() {
  const JsonValues file(path_);
  if (file.text("settings") != key_) file.fail("settings", "this file is of another comparison");
  file.for_each("pieces", [&](const std::string& piece) {
    Findings& findings = pieces_[file.text(piece + "/name")];
    file.for_each(piece + "/numbers", [&](const std::string& at) {
      std::vector<double>& values = findings.numbers[file.text(at + "/name")];
      file.for_each(at + "/values", [&](const std::string& value) {
        values.push_back(file.number(value, std::numeric_limits<double>::quiet_NaN()));
      });
    });
    file.for_each(piece + "/words",
                  [&](const std::string& at) { findings.words[file.text(at + "/name")] = file.text(at + "/text"); });
  });
}

void ResultStore::write() const {
  std::string text = "{\"settings\": " + json_text(key_) + ",\n \"pieces\": [";
  const char* between = "\n";
  for (const auto& [name, findings] : pieces_) {
    text += between + std::string("  {\"name\": ") + json_text(name) + ",\n   \"numbers\": [";
    const char* comma = "";
    for (const auto& [list, values] : findings.numbers) {
      text +=
          comma + std::string("\n    {\"name\": ") + json_text(list) + ", \"values\": " + numbers_text(values) + "}";
      comma = ",";
    }
    text += "],\n   \"words\": [";
    comma = "";
    for (const auto& [word, value] : findings.words) {
      text += comma + std::string("\n    {\"name\": ") + json_text(word) + ", \"text\": " + json_text(value) + "}";
      comma = ",";
    }
    text += "]}";
    between = ",\n";
  }
  OutputFile file(path_);
  file.write(text + "\n ]}\n");
  file.commit();
}

}  // namespace orrery
