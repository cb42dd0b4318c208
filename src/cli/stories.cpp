// orrery stories: tell stories of the story world, or check some.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "base/mapped_file.h"
#include "cli/session.h"
#include "learn/story_lines.h"

namespace orrery::cli {
namespace {

constexpr size_t kLargestFile = size_t{1} << 30;
constexpr size_t kPrintedAtOnce = size_t{1} << 16;  // bytes
constexpr int kStories = 10;
constexpr int kStatisticsStories = 10000;

std::vector<Language> languages(const std::string& name) {
  std::vector<Language> result;
  for (const Language language : kLanguages) {
    if (name == "both" || name == name_of(language)) result.push_back(language);
  }
  return result;
}

// Collects lines, so that the system is asked seldom.
class Lines {
 public:
  void add(const std::string& line) {
    text_ += line + "\n";
    if (text_.size() >= kPrintedAtOnce) flush();
  }
  void flush() {
    print(text_);
    text_.clear();
  }

 private:
  std::string text_;
};

int tell(const StoriesOptions& options, uint64_t seed) {
  StoryLines stories(StoryWorld::built_in(), languages(options.language), seed);
  Lines lines;
  for (int i = 0; i < options.count.value_or(kStories) && !interrupted(); ++i) lines.add(stories.next().text);
  lines.flush();
  return interrupted() ? kInterrupted : kDone;
}

int print_statistics(const StoriesOptions& options, uint64_t seed) {
  for (const Language language : languages(options.language)) {
    Random random(seed);
    const StoryStatistics all =
        StoryWorld::built_in().statistics(random, language, options.count.value_or(kStatisticsStories));
    const char* unit = language == Language::english ? "words" : "characters";
    print(std::string(name_of(language)) + ": " + with_separators(all.stories) + " stories\n" + "  -log P      " +
          fixed(all.mean_nats, 2) + " ± " + fixed(all.nats_error, 2) + " nats a story, given the language\n" +
          "  length      " + fixed(all.mean_length, 1) + " " + unit + ", " + std::to_string(all.shortest) + " to " +
          std::to_string(all.longest) + "\n" + "  vocabulary  " + std::to_string(all.vocabulary) + " different " +
          unit + "\n");
  }
  return kDone;
}

int check(const std::string& path) {
  const std::string bytes = read_file(path, kLargestFile);
  std::string_view text = bytes;
  Lines lines;
  int64_t read = 0, told = 0;
  while (!text.empty() && !interrupted()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Judgement judgement = judge_story(StoryWorld::built_in(), line);
    const std::string language(name_of(judgement.language));
    const std::string verdict =
        judgement.is_story ? language + " story, -log P " + fixed(-judgement.reading.story.log_probability, 2) + " nats"
                           : "no story: " + language + " " + printable(judgement.reading.mistake);
    lines.add("line " + std::to_string(++read) + ": " + verdict);
    told += judgement.is_story;
  }
  lines.add(with_separators(told) + " of " + with_separators(read) + (read == 1 ? " line is a" : " lines are") +
            (read == 1 ? " story" : " stories") + " of the world");
  lines.flush();
  if (interrupted()) return kInterrupted;
  return told == read && read > 0 ? kDone : kInputAtFault;
}

}  // namespace

int stories(const StoriesOptions& options) {
  catch_interrupt();
  if (options.check) return check(*options.check);
  const uint64_t seed = options.seed.value_or(random_seed() % 1'000'000'000);
  if (!options.seed) std::fprintf(stderr, "seed %llu (drawn)\n", static_cast<unsigned long long>(seed));
  return options.statistics ? print_statistics(options, seed) : tell(options, seed);
}

}  // namespace orrery::cli
