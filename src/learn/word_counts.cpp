#include "learn/word_counts.h"

namespace orrery {
namespace {

std::vector<int> last_of(const WordPair& pair, size_t n) {
  const std::span<const int> words = pair.before.last(n);
  return {words.begin(), words.end()};
}

}  // namespace

WordCounts::WordCounts(std::span<const WordPair> pairs, size_t n_words) : n_words_(n_words) {
  for (const WordPair& pair : pairs) {
    for (size_t n = 0; n <= pair.before.size(); ++n) {
      Following& after = following_[last_of(pair, n)];
      ++after.times[pair.next];
      ++after.all;
    }
  }
}

const WordCounts::Following* WordCounts::following(const WordPair& pair, size_t n) const {
  const auto found = following_.find(last_of(pair, n));
  return found == following_.end() ? nullptr : &found->second;
}

size_t WordCounts::up_to(size_t n) const {
  size_t sum = 0;
  for (const auto& [words, after] : following_) {
    if (words.size() < n) sum += after.times.size();
  }
  return sum;
}

int64_t WordCounts::times(const WordPair& pair, size_t n) const {
  const Following* after = following(pair, n - 1);
  if (after == nullptr) return 0;
  const auto found = after->times.find(pair.next);
  return found == after->times.end() ? 0 : found->second;
}

bool WordCounts::knows(const WordPair& pair, size_t n) const { return following(pair, n) != nullptr; }

double WordCounts::p(const WordPair& pair, size_t n) const {
  double p = 1 / static_cast<double>(n_words_);
  for (size_t k = 1; k <= n; ++k) {
    const Following* after = following(pair, k - 1);
    if (after == nullptr) break;
    const auto found = after->times.find(pair.next);
    const double own = found == after->times.end() ? 0 : static_cast<double>(found->second) - kDiscount;
    const double given_away = kDiscount * static_cast<double>(after->times.size());
    p = (own + given_away * p) / static_cast<double>(after->all);
  }
  return p;
}

}  // namespace orrery
