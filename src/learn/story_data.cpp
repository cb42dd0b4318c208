#include "learn/story_data.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learn/story_lines.h"
#include "learn/vocabularies.h"

namespace orrery {

StoryData::StoryData(const StoryDataOptions& options) {
  StoryLines lines(StoryWorld::built_in(), options.languages, options.seed);
  const auto n_held_out = static_cast<size_t>(options.held_out), n_training = static_cast<size_t>(options.training);
  std::vector<std::string> texts;
  double nats = 0;
  while (texts.size() < n_held_out + n_training) {
    Story story = lines.next();
    if (texts.size() < n_held_out) {
      nats += std::log(static_cast<double>(options.languages.size())) - story.log_probability;
    }
    texts.push_back(std::move(story.text));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::span all(views);
  const auto to_learn = all.subspan(n_held_out, std::min<size_t>(500, n_training));
  vocabulary = vocabulary_for("bpe", options.vocabulary_size, to_learn);
  tokenizer = make_tokenizer(vocabulary, "stories");
  held_out = std::make_unique<TokenData>(all.first(n_held_out), *tokenizer);
  training = std::make_unique<TokenData>(all.subspan(n_held_out), *tokenizer);
  floor = nats / static_cast<double>(held_out->guesses());
}

}  // namespace orrery
