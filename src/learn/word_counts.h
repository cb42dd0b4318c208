// n-grams: how often each word came next after the last n - 1 words. A table of what was seen, and a way to say
// something about what was not: absolute discounting (Ney, Essen and Kneser, 1994).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "learn/word_pairs.h"

namespace orrery {

class WordCounts {
 public:
  static constexpr double kDiscount = 0.75;

  // Counts n-grams for every n up to the number of words before, and one more. `n_words`: of the vocabulary.
  WordCounts(std::span<const WordPair> pairs, size_t n_words);

  size_t up_to(size_t n) const;                         // different 1-grams, 2-grams ... n-grams that were seen
  int64_t times(const WordPair& pair, size_t n) const;  // how often the one was that ends with the next word
  bool knows(const WordPair& pair, size_t n) const;     // something came behind the same last n words
  // p(next | the last n - 1 words). From every count kDiscount is taken, and what that gives is shared out as n - 1
  // words say; n = 0 says that all words are alike. Behind words that were never seen together n - 1 words decide. Over
  // all next words it sums to 1.
  double p(const WordPair& pair, size_t n) const;

 private:
  struct Following {
    std::map<int, int64_t> times = {};  // of each next word
    int64_t all = 0;                    // their sum
  };
  size_t n_words_;
  std::map<std::vector<int>, Following> following_;

  const Following* following(const WordPair& pair, size_t n) const;  // nullptr: the last n words were never seen
};

}  // namespace orrery
