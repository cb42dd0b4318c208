// Texts for language models that are compared, made by us: there is as much of them as one likes.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "learn/token_data.h"

namespace orrery {

// "marolin", "stebek": two or three syllables, first letters and vowels likelier by what stands before them.
std::string invented_name(Random& random);

struct TextData {
  std::string name;         // "names", "stories"
  std::string description;  // "2,000 invented names, by characters"
  int vocab_size = 0;
  int context = 0;   // longest piece, in guesses
  double floor = 0;  // a loss that no model can pass, in nats per token; 0: unknown
  std::unique_ptr<TokenData> training, held_out;
};

// Throws Error for another name than "names" and "stories".
TextData text_data(const std::string& name, uint64_t seed);

}  // namespace orrery
