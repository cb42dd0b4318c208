// Models in several GGUF files, as llama.cpp's gguf-split leaves them: each part is a GGUF file of its own, the first
// one has the model's metadata, and split.no (from 0), split.count and split.tensors.count (of all parts) say what
// belongs together. Parts are found by the name of the one that was given, never by a name in a file.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unordered_map>

#include "base/error.h"
#include "files/gguf.h"

namespace orrery {
namespace {

constexpr std::string_view kEnd = ".gguf";
constexpr size_t kDigits = 5;
constexpr int kMaxParts = 65535;  // split.count is an uint16

// "/m/model-00002-of-00003.gguf" is "/m/model", 2, 3.
struct PartName {
  std::string begin;
  int number = 0;
  int count = 0;
};

std::string file_name(const std::string& begin, int number, int count) {
  char end[40];
  std::snprintf(end, sizeof end, "-%05d-of-%05d", number, count);
  return begin + end + std::string(kEnd);
}

// Takes five digits and `mark` in front of them off the end of `text`; -1 where they are not there.
int take_number(std::string_view& text, std::string_view mark) {
  if (text.size() < kDigits + mark.size()) return -1;
  int number = 0;
  for (const char c : text.substr(text.size() - kDigits)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  text.remove_suffix(kDigits);
  if (!text.ends_with(mark)) return -1;
  text.remove_suffix(mark.size());
  return number;
}

PartName part_name(const GgufMetadata& metadata, int count) {
  std::string_view rest = metadata.path();
  PartName name;
  if (rest.ends_with(kEnd)) {
    rest.remove_suffix(kEnd.size());
    name.count = take_number(rest, "-of-");
    name.number = take_number(rest, "-");
    name.begin = rest;
  }
  if (name.count != count || name.number < 1 || name.number > count) {
    metadata.fail("split.count", {.what = "the file is one part of a model, and its name does not say which",
                                  .expected = "a name like " + file_name("model", 1, count),
                                  .found = std::filesystem::path(metadata.path()).filename().string(),
                                  .hint = "give the parts back the names with which they were published"});
  }
  return name;
}

// Keys that every part has for itself, whatever model it is of.
bool is_about_the_file(std::string_view key) { return key.starts_with("split.") || key == "general.alignment"; }

// A part that says anything about the model must say the same as the first one.
void check_same_model(const GgufMetadata& first, const GgufMetadata& part) {
  for (const auto& [key, value] : part.entries()) {
    if (is_about_the_file(key)) continue;
    const GgufValue* same = first.find(key);
    if (same != nullptr && std::ranges::equal(same->encoded, value.encoded)) continue;
    part.fail(key, {.what = "the part belongs to another model than the first part",
                    .expected = same == nullptr ? "no such key, as in the first part" : value_text(*same),
                    .found = value_text(value),
                    .hint = "fetch all parts from one place"});
  }
  const auto n_all = first.integer("split.tensors.count");
  const auto n_here = part.integer("split.tensors.count");
  if (n_all && n_here && n_all != n_here) {
    part.fail("split.tensors.count", {.what = "the part belongs to another model than the first part",
                                      .expected = std::to_string(*n_all) + " tensors in all",
                                      .found = std::to_string(*n_here),
                                      .hint = "fetch all parts from one place"});
  }
}

void check_number(const GgufMetadata& part, int number, int count) {
  if (part.count_or("split.count", 1) != count) {
    part.fail("split.count", {.what = "the part is one of another number of parts",
                              .expected = std::to_string(count),
                              .found = std::to_string(part.count_or("split.count", 1)),
                              .hint = "fetch all parts from one place"});
  }
  if (part.count("split.no") == number - 1) return;
  part.fail("split.no", {.what = "the part is another one than its name says",
                         .expected = std::to_string(number - 1) + ", counted from 0",
                         .found = std::to_string(part.count("split.no")),
                         .hint = "fetch the parts again, or give them back their names"});
}

GgufPart read_part(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(path);
  if (!is_gguf(*file)) throw Error({.what = "this part of the model is not a GGUF file", .where = path});
  GgufFile gguf = parse_gguf(*file);
  return {std::move(file), std::move(gguf)};
}

void check_tensors(const std::vector<GgufPart>& parts) {
  std::unordered_map<std::string_view, const GgufPart*> seen;
  for (const GgufPart& part : parts) {
    for (const FileTensor& tensor : part.gguf.tensors) {
      const auto [there, is_new] = seen.emplace(tensor.name, &part);
      if (is_new) continue;
      throw Error({.what = "two parts have the same tensor",
                   .where = part.file->path() + ": tensor " + tensor.name,
                   .found = "one in " + there->second->file->path(),
                   .hint = "fetch all parts from one place"});
    }
  }
  const GgufMetadata& first = parts.front().gguf.metadata;
  const auto n_all = first.integer("split.tensors.count");
  if (!n_all || *n_all == static_cast<int64_t>(seen.size())) return;
  first.fail("split.tensors.count", {.what = "the parts have another number of tensors than the first one says",
                                     .expected = std::to_string(*n_all),
                                     .found = std::to_string(seen.size()),
                                     .hint = "fetch all parts from one place"});
}

}  // namespace

std::vector<GgufPart> read_gguf_parts(std::shared_ptr<const MappedFile> file) {
  GgufFile given = parse_gguf(*file);
  std::vector<GgufPart> parts;
  const int count = given.metadata.count_or("split.count", 1);
  if (count <= 1) {
    parts.push_back({std::move(file), std::move(given)});
    return parts;
  }
  if (count > kMaxParts) {
    given.metadata.fail("split.count", {.what = "the number of parts makes no sense",
                                        .expected = "1 to " + std::to_string(kMaxParts),
                                        .found = std::to_string(count)});
  }
  const PartName name = part_name(given.metadata, count);
  for (int number = 1; number <= count; ++number) {
    const std::string path = file_name(name.begin, number, count);
    std::error_code ignored;
    if (number == name.number) {
      parts.push_back({file, std::move(given)});
    } else if (std::filesystem::exists(path, ignored)) {
      parts.push_back(read_part(path));
    } else {
      throw Error({.what = "a part of the model is missing",
                   .where = path,
                   .expected = std::to_string(count) + " parts beside each other",
                   .hint = "fetch it into the same folder"});
    }
    const GgufMetadata& metadata = parts.back().gguf.metadata;
    check_number(metadata, number, count);
    check_same_model(parts.front().gguf.metadata, metadata);
  }
  check_tensors(parts);
  return parts;
}

}  // namespace orrery
