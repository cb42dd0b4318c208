// Stories as training texts have them, one in a line: told one after the other, looked for, and judged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "learn/story_world.h"

namespace orrery {

// An endless row of stories, in these languages by turns. The n-th depends on the seed, the languages and n alone.
class StoryLines {
 public:
  // `world` must outlive it; there is at least one language.
  StoryLines(const StoryWorld& world, std::vector<Language> languages, uint64_t seed)
      : world_(world), languages_(std::move(languages)), random_(seed) {}

  Story next() { return world_.tell(random_, languages_[told_++ % languages_.size()]); }

 private:
  const StoryWorld& world_;
  std::vector<Language> languages_;
  Random random_;
  size_t told_ = 0;
};

struct Judgement {
  Language language = Language::english;  // in which the line is a story, or begins as one for longest
  bool is_story = false;
  Reading reading;
};

// The world must have a grammar for each of kLanguages.
Judgement judge_story(const StoryWorld& world, std::string_view line);

// The lines of a text file, remembered by 64 bits of each: another line is taken for one of them once in 10^14 times.
class KnownLines {
 public:
  explicit KnownLines(const std::string& path);  // throws Error
  bool contains(std::string_view line) const;

 private:
  std::unordered_set<uint64_t> hashes_;
};

}  // namespace orrery
