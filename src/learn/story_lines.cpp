#include "learn/story_lines.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"

namespace orrery {
namespace {

// FNV-1a (Fowler, Noll and Vo).
uint64_t hash_of(std::string_view line) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

Judgement judge_story(const StoryWorld& world, std::string_view line) {
  Judgement best;
  for (const Language language : kLanguages) {
    Reading reading = world.parse(line, language);
    const bool is_story = reading.derivations > 0;
    const bool is_better = is_story || reading.good_bytes > best.reading.good_bytes;
    if (language == kLanguages[0] || is_better) best = {language, is_story, std::move(reading)};
    if (is_story) break;
  }
  return best;
}

KnownLines::KnownLines(const std::string& path) {
  const MappedFile file(path);
  std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    hashes_.insert(hash_of(line));
  }
}

bool KnownLines::contains(std::string_view line) const { return hashes_.contains(hash_of(line)); }

}  // namespace orrery
