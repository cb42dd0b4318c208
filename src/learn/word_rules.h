// Rules made by hand about the next word: behind a word that fits one pattern comes a word that fits another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "learn/word_pairs.h"

namespace orrery {

// Of each word whether the regular expression (ECMAScript's) fits the whole of it. Throws Error for one that is none.
std::vector<bool> fitting(const std::vector<std::string>& words, const std::string& pattern);

class WordRules {
 public:
  // A rule is "BEFORE -> NEXT", two patterns. `trust`: the probability that the words which a rule allows share, in
  // equal parts; the others share the rest. Throws Error where it is not between 0 and 1, for what is no rule, and for
  // a rule that allows no word, or all.
  WordRules(std::span<const char* const> rules, const std::vector<std::string>& vocabulary, double trust);

  // p(next | the last word), by the first rule that fits that word; where none does, all words are alike.
  double p(const WordPair& pair) const;
  struct Coverage {
    double applies = 0;  // the share of the pairs for which there is a rule
    double right = 0;    // and of these, the share for which it allows the next word
  };
  Coverage coverage(std::span<const WordPair> pairs) const;

 private:
  struct Rule {
    std::vector<bool> applies, allows;  // [words]
    double n_allowed = 0;
  };
  std::vector<Rule> rules_;
  double n_words_, trust_;

  const Rule* rule_for(const WordPair& pair) const;
};

}  // namespace orrery
