// Stories of the story world, cut into words: some to learn from, some held out, and what no way to guess them can
// beat.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/story_world.h"
#include "learn/word_pairs.h"

namespace orrery {

struct StoryWordsOptions {
  Language language = Language::english;
  int training = 300, held_out = 50;  // stories
  size_t n_before = 4;                // words before the next one
  uint64_t seed = 1;
};

struct StoryWords {
  WordPairs pairs;
  size_t training_bytes = 0;
  double lowest_perplexity = 0;  // on the stories held out, by the world's own probabilities; a word counts as a guess
};

StoryWords story_words(const StoryWordsOptions& options);

// Which words of a vocabulary are entries of these lists of the world's grammar; an entry of more than one word is
// none.
struct WordKinds {
  std::vector<int> ids, kinds;  // as many as words were found; a kind is a place in `lists`
};

// Throws Error for a list that the grammar does not have.
WordKinds word_kinds(const WordPairs& pairs, Language language, const std::vector<std::string>& lists);

}  // namespace orrery
