#include "learn/bpe_trainer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "files/pre_tokenizations.h"
#include "text/added_tokens.h"
#include "text/byte_level.h"
#include "text/pre_tokenizer.h"

namespace orrery {
namespace {

constexpr size_t kMaxVocabularySize = 1'000'000;

struct TextHash {
  using is_transparent = void;  // look up a string_view without making a string of it
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using WordCounts = std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>>;

// How often each pre-token is there. Most of a text repeats itself: from here on, each word is looked at once.
WordCounts count_words(std::span<const std::string_view> texts, const BpeTrainingOptions& options) {
  const std::vector<std::string>& special_tokens = options.special_tokens;
  Vocabulary special;
  special.pieces.assign(special_tokens.begin(), special_tokens.end());
  special.kinds.assign(special_tokens.size(), PieceKind::control);
  const AddedTokens added(special);
  PreTokenization rules = pre_tokenization_named("gpt-2");
  if (options.han_apart) rules.patterns.emplace_back("\\p{Han}");
  const PreTokenizer pre_tokenizer(rules, "GPT-2");
  WordCounts counts;
  const auto count = [&](std::string_view word) {
    const auto found = counts.find(word);
    if (found != counts.end()) {
      ++found->second;
    } else {
      counts.emplace(word, 1);
    }
  };
  for (const std::string_view text : texts) {
    for (const AddedTokens::Part& part : added.cut(text, true)) {
      if (part.id == kNoToken) pre_tokenizer.cut(part.text, count);
    }
  }
  return counts;
}

// All distinct words, cut into pieces that get fewer and longer, and the pairs of neighbours with their counts, kept up
// to date: a merge only visits the places where its pair stands.
//
// No two merges make the same bytes. As long as no merge crosses the ends of a stretch of bytes, what happens inside
// depends on these bytes alone; so they become one piece in one way only.
class Pairs {
 public:
  explicit Pairs(const WordCounts& words);
  Pairs(const Pairs&) = delete;  // candidates_ points to pieces_
  Pairs& operator=(const Pairs&) = delete;

  // Makes the next piece; false where there is no pair left.
  bool merge_most_frequent();

  const std::vector<std::string>& pieces() const { return pieces_; }  // their bytes; the first 256 are single ones
  const std::vector<std::pair<int32_t, int32_t>>& merges() const { return merges_; }

 private:
  static constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
  static constexpr int32_t kGone = -1;
  struct Symbol {
    int32_t piece;            // kGone: it has become part of the symbol before it
    uint32_t previous, next;  // places in symbols_, kNowhere at the ends of a word
    uint32_t word;
  };
  struct Pair {
    int64_t count = 0;
    std::vector<uint32_t> places;  // of the left symbols, ascending; the pair may have gone from there since
  };
  // What may be merged. The count may be outdated: too high, never too low, for a pair comes into being all at once,
  // when the later of its pieces is made.
  struct Candidate {
    int64_t count;
    int32_t left, right;
  };
  struct ComesLater {
    const std::vector<std::string>& pieces;
    bool operator()(const Candidate& a, const Candidate& b) const {
      if (a.count != b.count) return a.count < b.count;
      return a.left != b.left ? pieces[a.left] < pieces[b.left] : pieces[a.right] < pieces[b.right];
    }
  };

  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  // The pair that stands at `place` and after it appears or goes.
  void add_pair(uint32_t place);
  void remove_pair(uint32_t place);
  void push_new_pairs();
  void merge_at(uint32_t place, int32_t new_piece);

  std::vector<std::string> pieces_;
  std::vector<std::pair<int32_t, int32_t>> merges_;
  std::vector<int64_t> word_counts_;
  std::vector<Symbol> symbols_;
  std::unordered_map<uint64_t, Pair> pairs_;
  std::vector<uint64_t> new_pairs_;  // not among the candidates yet
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> candidates_{ComesLater{pieces_}};
};

Pairs::Pairs(const WordCounts& words) {
  for (int byte = 0; byte < 256; ++byte) pieces_.emplace_back(1, static_cast<char>(byte));
  size_t n_symbols = 0;
  for (const auto& [word, count] : words) n_symbols += word.size();
  if (n_symbols >= kNowhere) {
    throw Error({.what = "the text has too many different words to learn a vocabulary from",
                 .expected = "less than 4 GiB of them",
                 .hint = "take a part of the text"});
  }
  symbols_.reserve(n_symbols);
  for (const auto& [word, count] : words) {
    const auto begin = static_cast<uint32_t>(symbols_.size());
    const auto end = static_cast<uint32_t>(begin + word.size());
    for (uint32_t i = begin; i < end; ++i) {
      symbols_.push_back({static_cast<unsigned char>(word[i - begin]), i > begin ? i - 1 : kNowhere,
                          i + 1 < end ? i + 1 : kNowhere, static_cast<uint32_t>(word_counts_.size())});
    }
    word_counts_.push_back(count);
  }
  for (uint32_t i = 0; i < symbols_.size(); ++i) add_pair(i);
  push_new_pairs();
}

void Pairs::add_pair(uint32_t place) {
  if (place == kNowhere || symbols_[place].next == kNowhere) return;
  const uint64_t both = key(symbols_[place].piece, symbols_[symbols_[place].next].piece);
  Pair& pair = pairs_[both];
  if (pair.places.empty()) new_pairs_.push_back(both);
  pair.count += word_counts_[symbols_[place].word];
  pair.places.push_back(place);
}

void Pairs::remove_pair(uint32_t place) {
  if (place == kNowhere || symbols_[place].next == kNowhere) return;
  pairs_[key(symbols_[place].piece, symbols_[symbols_[place].next].piece)].count -= word_counts_[symbols_[place].word];
}

void Pairs::push_new_pairs() {
  for (const uint64_t both : new_pairs_) {
    candidates_.push({pairs_[both].count, static_cast<int32_t>(both >> 32), static_cast<int32_t>(both & UINT32_MAX)});
  }
  new_pairs_.clear();
}

bool Pairs::merge_most_frequent() {
  while (!candidates_.empty()) {
    Candidate best = candidates_.top();
    candidates_.pop();
    const auto found = pairs_.find(key(best.left, best.right));
    if (found->second.count != best.count) {  // merges with other neighbours have made it rarer
      best.count = found->second.count;
      if (best.count > 0) candidates_.push(best);
      continue;
    }
    if (best.count == 0) continue;
    const auto new_piece = static_cast<int32_t>(pieces_.size());
    pieces_.push_back(pieces_[best.left] + pieces_[best.right]);
    merges_.emplace_back(best.left, best.right);
    const std::vector<uint32_t> places = std::move(found->second.places);
    for (const uint32_t place : places) {
      const Symbol& left = symbols_[place];
      const bool stands = left.piece == best.left && left.next != kNowhere && symbols_[left.next].piece == best.right;
      if (stands) merge_at(place, new_piece);
    }
    pairs_.erase(found);
    push_new_pairs();
    return true;
  }
  return false;
}

void Pairs::merge_at(uint32_t place, int32_t new_piece) {
  Symbol& left = symbols_[place];
  Symbol& right = symbols_[left.next];
  remove_pair(left.previous);
  remove_pair(place);
  remove_pair(left.next);
  left.piece = new_piece;
  left.next = right.next;
  right.piece = kGone;
  if (left.next != kNowhere) symbols_[left.next].previous = place;
  add_pair(left.previous);
  add_pair(place);
}

std::string letters_of(const std::string& bytes) {
  std::string letters;
  for (const char byte : bytes) letters += byte_letters()[static_cast<unsigned char>(byte)];
  return letters;
}

void check(const BpeTrainingOptions& options) {
  const size_t smallest = 256 + options.special_tokens.size();
  if (options.vocabulary_size < smallest || options.vocabulary_size > kMaxVocabularySize) {
    throw Error({.what = "a vocabulary of this size cannot be learnt",
                 .expected = std::to_string(smallest) + " (all bytes and the special tokens) to " +
                             std::to_string(kMaxVocabularySize),
                 .found = std::to_string(options.vocabulary_size)});
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& token : options.special_tokens) {
    if (token.empty()) throw Error({.what = "a special token is empty"});
    if (!seen.insert(token).second) throw Error({.what = "the special token '" + token + "' is there twice"});
  }
}

// Puts the pieces together; all text that the views point to goes to `storage`.
Vocabulary vocabulary_of(const Pairs& pairs, const std::vector<std::string>& special_tokens) {
  std::vector<std::string> letters;  // of each piece of `pairs`
  for (const std::string& bytes : pairs.pieces()) letters.push_back(letters_of(bytes));
  std::vector<std::string> texts = special_tokens;
  texts.insert(texts.end(), letters.begin(), letters.end());
  const auto bytes_begin = texts.begin() + static_cast<std::ptrdiff_t>(special_tokens.size());
  std::ranges::sort(bytes_begin, bytes_begin + 256);  // UTF-8 sorts like the numbers of its characters
  const size_t n_pieces = texts.size();
  for (const auto& [left, right] : pairs.merges()) texts.push_back(letters[left] + " " + letters[right]);

  auto storage = std::make_shared<std::string>();
  for (const std::string& text : texts) *storage += text;
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  std::string_view rest = *storage;
  for (size_t i = 0; i < texts.size(); ++i) {
    (i < n_pieces ? vocabulary.pieces : vocabulary.merges).push_back(rest.substr(0, texts[i].size()));
    rest.remove_prefix(texts[i].size());
  }
  vocabulary.storage = storage;
  vocabulary.scores.assign(n_pieces, 0);
  vocabulary.kinds.assign(n_pieces, PieceKind::normal);
  std::fill_n(vocabulary.kinds.begin(), special_tokens.size(), PieceKind::control);
  if (!special_tokens.empty()) {
    vocabulary.bos = 0;
    vocabulary.end_tokens = {0};
  }
  vocabulary.add_bos = vocabulary.add_space_prefix = false;
  vocabulary.pre_tokenization = pre_tokenization_named("gpt-2");
  return vocabulary;
}

}  // namespace

Vocabulary train_bpe(std::span<const std::string_view> texts, const BpeTrainingOptions& options) {
  check(options);
  Pairs pairs(count_words(texts, options));
  while (options.special_tokens.size() + pairs.pieces().size() < options.vocabulary_size) {
    if (!pairs.merge_most_frequent()) break;
  }
  if (pairs.merges().empty() && options.vocabulary_size > 256 + options.special_tokens.size()) {
    throw Error({.what = "there is nothing to learn a vocabulary from: the text has no word of two bytes",
                 .hint = "give more text"});
  }
  Vocabulary vocabulary = vocabulary_of(pairs, options.special_tokens);
  std::unordered_set<std::string_view> seen;
  for (const std::string_view piece : vocabulary.pieces) {
    if (!seen.insert(piece).second) {
      throw Error({.what = "the special token '" + std::string(piece) + "' is written like a piece that is learnt",
                   .hint = "choose another one, such as <|endoftext|>"});
    }
  }
  return vocabulary;
}

}  // namespace orrery
