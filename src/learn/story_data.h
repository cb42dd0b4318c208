// Stories of the StoryWorld as training data: some of them held out, with the lowest loss that any model can have
// there.
#pragma once

#include <cstdint>
#include <memory>

#include "learn/story_world.h"
#include "learn/token_data.h"
#include "text/tokenizer.h"

namespace orrery {

struct StoryDataOptions {
  std::vector<Language> languages = {Language::english};  // by turns
  int training = 2000, held_out = 100;                    // stories
  int vocabulary_size = 512;                              // of byte-level BPE, learned from the first 500 for training
  uint64_t seed = 1;
};

struct StoryData {
  explicit StoryData(const StoryDataOptions& options);

  Vocabulary vocabulary;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<TokenData> training, held_out;
  // Of the stories held out, in nats per token; where there is more than one language, a story's first choice is which.
  double floor = 0;
};

}  // namespace orrery
