#include "learn/word_pairs.h"

#include <cmath>

namespace orrery {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-'; }

// Bytes 10xxxxxx go on with a character of UTF-8.
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    const bool is_word = is_letter(text[begin]) || text[begin] == '\'';
    end = begin + 1;
    while (end < text.size() && (is_word ? is_letter(text[end]) : goes_on(text[end]))) ++end;
    if (text[begin] != ' ') words.emplace_back(text.substr(begin, end - begin));
  }
  return words;
}

WordPairs::WordPairs(const std::vector<std::string>& training_texts, const std::vector<std::string>& held_out_texts,
                     size_t n_before) {
  training = pairs_of(training_texts, n_before, true);
  held_out = pairs_of(held_out_texts, n_before, false);
}

int WordPairs::id(const std::string& word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kOther : found->second;
}

std::vector<WordPair> WordPairs::pairs_of(const std::vector<std::string>& texts, size_t n_before, bool learns) {
  std::vector<WordPair> pairs;
  for (const std::string& text : texts) {
    std::vector<int> ids(n_before, kStart);
    for (const std::string& word : words_of(text)) {
      if (learns && ids_.emplace(word, static_cast<int>(vocabulary.size())).second) vocabulary.push_back(word);
      ids.push_back(id(word));
    }
    texts_.push_back(std::move(ids));
    const std::span<const int> all(texts_.back());  // whose numbers stay where they are when texts_ grows
    for (size_t i = n_before; i < all.size(); ++i) pairs.push_back({all.subspan(i - n_before, n_before), all[i]});
  }
  return pairs;
}

double perplexity(std::span<const WordPair> pairs, const std::function<double(const WordPair&)>& p) {
  double nats = 0;
  for (const WordPair& pair : pairs) nats -= std::log(p(pair));
  return std::exp(nats / static_cast<double>(pairs.size()));
}

}  // namespace orrery
