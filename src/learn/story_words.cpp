#include "learn/story_words.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learn/story_lines.h"

namespace orrery {

StoryWords story_words(const StoryWordsOptions& options) {
  StoryLines lines(StoryWorld::built_in(), {options.language}, options.seed);
  std::vector<std::string> training, held_out;
  size_t bytes = 0;
  double nats = 0;
  for (int n = 0; n < options.training; ++n) {
    training.push_back(lines.next().text);
    bytes += training.back().size();
  }
  for (int n = 0; n < options.held_out; ++n) {
    Story story = lines.next();
    nats -= story.log_probability;
    held_out.push_back(std::move(story.text));
  }
  WordPairs pairs(training, held_out, options.n_before);
  const double lowest = std::exp(nats / static_cast<double>(pairs.held_out.size()));
  return {std::move(pairs), bytes, lowest};
}

WordKinds word_kinds(const WordPairs& pairs, Language language, const std::vector<std::string>& lists) {
  const std::vector<WordList>& known = StoryWorld::built_in().grammar(language).lists;
  WordKinds found;
  for (size_t kind = 0; kind < lists.size(); ++kind) {
    const auto list = std::ranges::find(known, lists[kind], &WordList::name);
    if (list == known.end()) throw Error({.what = "the grammar has no such list", .found = lists[kind]});
    for (const auto& entry : list->entries) {
      const int id = pairs.id(entry[0]);
      if (id == WordPairs::kOther) continue;
      found.ids.push_back(id);
      found.kinds.push_back(static_cast<int>(kind));
    }
  }
  return found;
}

}  // namespace orrery
