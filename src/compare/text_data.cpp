#include "compare/text_data.h"

#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "learn/story_data.h"
#include "learn/vocabularies.h"
#include "text/tokenizer.h"

namespace orrery {
namespace {

template <size_t N>
std::string_view one_of(Random& random, const std::array<std::string_view, N>& all) {
  return all[random.below(N)];
}

TextData names(uint64_t seed) {
  constexpr int kTraining = 2000, kHeldOut = 500;
  Random random(seed);
  std::vector<std::string> texts;
  for (int i = 0; i < kTraining + kHeldOut; ++i) texts.push_back(invented_name(random));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::span all(views);
  const Vocabulary vocabulary = character_vocabulary(views);
  const auto tokenizer = make_tokenizer(vocabulary, "names");
  TextData data{.name = "names",
                .description = "2,000 invented names, by characters",
                .vocab_size = static_cast<int>(vocabulary.pieces.size()),
                .context = 32,
                .floor = 0,
                .training = std::make_unique<TokenData>(all.first(kTraining), *tokenizer),
                .held_out = std::make_unique<TokenData>(all.subspan(kTraining), *tokenizer)};
  return data;
}

TextData stories(uint64_t seed) {
  StoryData made({.training = 4000, .held_out = 60, .vocabulary_size = 384, .seed = seed});
  TextData data{.name = "stories",
                .description = "4,000 stories of the story world, by 384 pieces of byte-level BPE",
                .vocab_size = static_cast<int>(made.vocabulary.pieces.size()),
                .context = 128,
                .floor = made.floor,
                .training = std::move(made.training),
                .held_out = std::move(made.held_out)};
  return data;
}

}  // namespace

// A syllable is a beginning, a vowel and perhaps an end; which vowels a beginning likes is fixed, so that there is
// something to learn beside the letters' frequencies.
std::string invented_name(Random& random) {
  static constexpr std::array<std::string_view, 16> kBeginnings = {"b", "d", "k", "l",  "m",  "n",  "p",  "r",
                                                                   "s", "t", "v", "br", "st", "tr", "sh", "th"};
  static constexpr std::array<std::string_view, 6> kEnds = {"n", "r", "l", "s", "k", "m"};
  static constexpr std::string_view kVowels = "aeiou";
  std::string name;
  const uint64_t syllables = 2 + random.below(2);
  for (uint64_t i = 0; i < syllables; ++i) {
    const std::string_view beginning = one_of(random, kBeginnings);
    const size_t liked = (static_cast<size_t>(beginning.front()) + beginning.size()) % kVowels.size();
    name += beginning;
    name += random.uniform() < 0.6 ? kVowels[liked] : kVowels[random.below(kVowels.size())];
    const bool is_last = i + 1 == syllables;
    if (random.uniform() < (is_last ? 0.7 : 0.2)) name += one_of(random, kEnds);
  }
  return name;
}

TextData text_data(const std::string& name, uint64_t seed) {
  if (name == "names") return names(seed);
  if (name == "stories") return stories(seed);
  throw Error({.what = "there is no such text", .where = "text", .expected = "names or stories", .found = name});
}

}  // namespace orrery
