// Texts as pairs of the words before and the word that comes next: every text brings its own questions and answers.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// "It's late." is It, 's, late, . : letters and hyphens in a row, an apostrophe with what follows it, and every other
// character by itself. Spaces are dropped.
std::vector<std::string> words_of(std::string_view text);

struct WordPair {
  std::span<const int> before;  // ids of the words before, as many for every pair
  int next = 0;
};

class WordPairs {
 public:
  static constexpr int kStart = 0, kOther = 1;

  // A pair for each word. The words of `training` become the vocabulary, in their order; a word held out that is not
  // among them is kOther. Before a text stands kStart, `n_before` times.
  WordPairs(const std::vector<std::string>& training, const std::vector<std::string>& held_out, size_t n_before);
  WordPairs(WordPairs&&) = default;
  WordPairs(const WordPairs&) = delete;

  std::vector<std::string> vocabulary = {"(start)", "(other)"};
  std::vector<WordPair> training, held_out;
  int id(const std::string& word) const;  // kOther where there is none

 private:
  std::map<std::string, int> ids_;
  std::vector<std::vector<int>> texts_;  // the pairs look into these

  std::vector<WordPair> pairs_of(const std::vector<std::string>& texts, size_t n_before, bool learns);
};

// exp of the mean of -log p over the pairs: among how many words, all as likely, one would be as much in doubt.
double perplexity(std::span<const WordPair> pairs, const std::function<double(const WordPair&)>& p);

}  // namespace orrery
