#include "learn/story_parser.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// How many bytes both begin with, cut back to whole characters.
size_t common_bytes(std::string_view a, std::string_view b) {
  const auto is_inside_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  while (same > 0 && same < a.size() && is_inside_character(a[same])) --same;
  return same;
}

class Parser {
 public:
  Parser(const StoryGrammar& grammar, std::string_view text)
      : grammar_(grammar), text_(text), bindings_(grammar.slots.size()) {}

  ParsedText parse() {
    const Piece story{.kind = Piece::Kind::rule, .rule = grammar_.story};
    match(0, {&story, &story + 1, nullptr});
    return std::move(result_);
  }

 private:
  // What a derivation still has to say: the pieces of an alternative, then what comes after the rule it belongs to.
  // The chain lives on the stack of the calls of `match`.
  struct Rest {
    const Piece* next;
    const Piece* end;
    const Rest* then;
  };

  // Finds all ways in which `rest` can say the text from byte `at`.
  void match(size_t at, Rest rest) {
    while (result_.derivations < 2) {
      while (rest.next == rest.end) {
        if (rest.then == nullptr) {
          finish(at);
          return;
        }
        rest = Rest(*rest.then);  // a copy first: `rest.then` is part of what is overwritten
      }
      const Piece& piece = *rest.next++;
      switch (piece.kind) {
        case Piece::Kind::text:
          if (!follow(at, piece.text)) return;
          break;
        case Piece::Kind::recall: {
          const Binding& binding = bindings_[static_cast<size_t>(piece.slot)];
          if (!follow(at, said(*binding.list, binding.entry, piece.field, piece.capital))) return;
          break;
        }
        case Piece::Kind::rule: match_rule(at, piece, rest); return;
        case Piece::Kind::choose: match_choice(at, piece, rest); return;
      }
    }
  }

  void match_rule(size_t at, const Piece& piece, const Rest& then) {
    const Rule& rule = grammar_.rules[static_cast<size_t>(piece.rule)];
    for (size_t i = 0; i < rule.alternatives.size(); ++i) {
      const Alternative& alternative = rule.alternatives[i];
      const Piece* pieces = alternative.pieces.data();
      push(i, alternative.weight, rule.total_weight);
      match(at, {pieces, pieces + alternative.pieces.size(), &then});
      pop();
    }
  }

  void match_choice(size_t at, const Piece& piece, const Rest& then) {
    const WordList& list = grammar_.lists[static_cast<size_t>(piece.list)];
    const std::vector<int> weights = entry_weights(grammar_, piece, bindings_);
    const int total = std::accumulate(weights.begin(), weights.end(), 0);
    Binding& binding = bindings_[static_cast<size_t>(piece.slot)];
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      push(i, weights[i], total);
      binding = {&list, static_cast<int>(i)};
      size_t end = at;
      if (follow(end, said(list, binding.entry, piece.field, piece.capital))) match(end, then);
      pop();
    }
  }

  // Goes over `words` in the text; false where it says something else or stops before.
  bool follow(size_t& at, std::string_view words) {
    const std::string_view left = text_.substr(at);
    if (left.starts_with(words)) {
      at += words.size();
      return true;
    }
    const size_t same = common_bytes(words, left);
    expect(at + same, words.substr(same), false);
    return false;
  }

  void finish(size_t at) {
    if (at < text_.size()) {
      expect(at, "", true);
    } else if (++result_.derivations == 1) {
      result_.picked = picked_;
    }
  }

  void expect(size_t at, std::string_view words, bool is_end) {
    if (at < result_.good_bytes) return;
    if (at > result_.good_bytes) {
      result_.good_bytes = at;
      result_.expected.clear();
      result_.may_end = false;
    }
    if (is_end) {
      result_.may_end = true;
      return;
    }
    const double probability = std::exp(log_probabilities_.back());
    for (Continuation& other : result_.expected) {
      if (other.text == words) {
        other.probability += probability;
        return;
      }
    }
    result_.expected.push_back({std::string(words), probability});
  }

  void push(size_t picked, int weight, int total) {
    picked_.push_back(picked);
    log_probabilities_.push_back(log_probabilities_.back() + std::log(static_cast<double>(weight) / total));
  }
  void pop() {
    picked_.pop_back();
    log_probabilities_.pop_back();
  }

  const StoryGrammar& grammar_;
  std::string_view text_;
  std::vector<Binding> bindings_;
  std::vector<size_t> picked_;                   // the choices on the way to here
  std::vector<double> log_probabilities_ = {0};  // after each of them
  ParsedText result_;
};

}  // namespace

ParsedText parse_text(const StoryGrammar& grammar, std::string_view text) { return Parser(grammar, text).parse(); }

}  // namespace orrery
