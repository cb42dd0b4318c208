// What is wrong with a grammar although every line of it can be read.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "learn/story_grammar.h"

namespace orrery {
namespace {

// Rules are followed by functions that call themselves, here and where stories are told.
constexpr size_t kMaxDepth = 200;
// Ways to come to a rule that differ in what is known there: two for each slot that may be chosen or not, if all goes
// wrong. The grammars that ship have fewer than 200.
constexpr size_t kMaxWays = 2'000;

class Checker {
 public:
  explicit Checker(const StoryGrammar& grammar) : grammar_(grammar), slot_lists_(grammar.slots.size()) {}

  void check() {
    if (grammar_.story < 0) fail(1, {.what = "a grammar needs a rule named story: every story begins with it"});
    for (const WordList& list : grammar_.lists) check_entries(list);
    for (const Rule& rule : grammar_.rules) check_alternatives(rule);
    collect_uses();
    check_fields();
    std::vector<std::string> path;
    check_recursion(grammar_.story, path);
    check_all_used();
    follow(grammar_.story, {});
  }

 private:
  // Which slots hold a word at some place of a story: on all ways that lead there, or on some.
  struct Known {
    std::set<int> surely, maybe;
    auto operator<=>(const Known&) const = default;
  };

  [[noreturn]] void fail(int line, ErrorParts parts) const {
    parts.where = grammar_.where + ":" + std::to_string(line);
    throw Error(std::move(parts));
  }
  const Rule& rule(int index) const { return grammar_.rules[static_cast<size_t>(index)]; }
  const std::string& slot(int index) const { return grammar_.slots[static_cast<size_t>(index)]; }

  // No entry may begin with another one ("oak", "oak tree"): who reads the first would not know yet which it is.
  void check_entries(const WordList& list) const {
    for (size_t field = 0; field < list.fields.size(); ++field) {
      for (size_t i = 0; i < list.entries.size(); ++i) {
        for (size_t j = 0; j < list.entries.size(); ++j) {
          const std::string& longer = list.entries[i][field];
          const std::string& shorter = list.entries[j][field];
          // Many entries may have the same pronoun, but two entries are two words.
          if (i == j || (field > 0 && longer == shorter) || !longer.starts_with(shorter)) continue;
          fail(list.line, {.what = longer == shorter ? "the list " + list.name + " has an entry twice"
                                                     : "in the list " + list.name + " one entry begins with another",
                           .found = longer == shorter ? longer : "\"" + shorter + "\" and \"" + longer + "\""});
        }
      }
    }
  }

  void check_alternatives(const Rule& rule) const {
    const auto signature = [](const Alternative& alternative) {
      std::string text;
      for (const Piece& p : alternative.pieces) {
        text += std::to_string(static_cast<int>(p.kind)) + p.text + "|" + std::to_string(p.rule) + "|" +
                std::to_string(p.list) + "|" + std::to_string(p.slot) + "|" + p.field + "|" + (p.capital ? "C" : "");
      }
      return text;
    };
    std::map<std::string, int> seen;
    for (const Alternative& alternative : rule.alternatives) {
      const auto [other, is_new] = seen.emplace(signature(alternative), alternative.line);
      if (!is_new) {
        fail(alternative.line, {.what = "the rule " + rule.name + " says the same twice",
                                .found = "the first time in line " + std::to_string(other->second),
                                .hint = "make one of it and give it a weight: *2"});
      }
    }
  }

  void collect_uses() {
    for (const Rule& user : grammar_.rules) {
      for (const Alternative& alternative : user.alternatives) {
        for (const Piece& piece : alternative.pieces) {
          if (piece.kind == Piece::Kind::choose) slot_lists_[static_cast<size_t>(piece.slot)].insert(piece.list);
        }
      }
    }
  }

  // A slot may be filled from several lists; each must have the fields that are said of the slot anywhere.
  void check_fields() const {
    for (const Rule& user : grammar_.rules) {
      for (const Alternative& alternative : user.alternatives) {
        for (const Piece& piece : alternative.pieces) {
          if (piece.slot < 0) continue;
          if (piece.kind == Piece::Kind::choose) check_field(piece, piece.list);
          if (piece.kind == Piece::Kind::recall) {
            for (const int list : slot_lists_[static_cast<size_t>(piece.slot)]) check_field(piece, list);
          }
        }
      }
    }
  }

  void check_field(const Piece& piece, int list_index) const {
    const WordList& list = grammar_.lists[static_cast<size_t>(list_index)];
    if (list.field_index(piece.field) >= 0) return;
    std::string known;
    for (size_t i = 1; i < list.fields.size(); ++i) known += (i > 1 ? ", " : "") + list.fields[i];
    fail(piece.line,
         {.what = "the list " + list.name + ", from which " + slot(piece.slot) + " is chosen, has no such field",
          .expected = known.empty() ? "no field" : known,
          .found = piece.field});
  }

  // Returns how deep the rule leads.
  size_t check_recursion(int index, std::vector<std::string>& path) {
    const bool is_circle = std::find(path.begin(), path.end(), rule(index).name) != path.end();
    path.push_back(rule(index).name);
    if (is_circle) {
      std::string circle;
      for (const std::string& name : path) circle += (circle.empty() ? "" : " > ") + name;
      fail(rule(index).line, {.what = "this rule leads back to itself, so a story might never end", .found = circle});
    }
    check_depth(index, path.size());
    const auto [entry, is_new] = depths_.emplace(index, 1);
    size_t& depth = entry->second;
    if (is_new) {
      for (const Alternative& alternative : rule(index).alternatives) {
        for (const Piece& piece : alternative.pieces) {
          if (piece.kind == Piece::Kind::rule) depth = std::max(depth, 1 + check_recursion(piece.rule, path));
        }
      }
    }
    check_depth(index, depth);
    path.pop_back();
    return depth;
  }

  void check_depth(int index, size_t depth) const {
    if (depth <= kMaxDepth) return;
    fail(rule(index).line, {.what = "rules lead too deep into each other",
                            .expected = "at most " + std::to_string(kMaxDepth) + " of them"});
  }

  void check_all_used() const {
    for (size_t i = 0; i < grammar_.rules.size(); ++i) {
      if (!depths_.contains(static_cast<int>(i))) {
        fail(grammar_.rules[i].line, {.what = "no story uses the rule " + grammar_.rules[i].name});
      }
    }
  }

  // Walks through a rule as a story would and returns what is known after it.
  Known follow(int index, const Known& before) {
    const auto known = followed_.find({index, before});
    if (known != followed_.end()) return known->second;
    Known after;
    bool is_first = true;
    for (const Alternative& alternative : rule(index).alternatives) {
      Known now = before;
      for (const Piece& piece : alternative.pieces) now = follow(piece, std::move(now));
      if (is_first) after.surely = now.surely;
      std::erase_if(after.surely, [&](int known_slot) { return now.surely.count(known_slot) == 0; });
      after.maybe.insert(now.maybe.begin(), now.maybe.end());
      is_first = false;
    }
    if (followed_.size() > kMaxWays) {
      fail(rule(index).line, {.what = "there are too many ways to this rule that differ in which slots are chosen"});
    }
    return followed_[{index, before}] = after;
  }

  Known follow(const Piece& piece, Known now) {
    if (piece.kind == Piece::Kind::rule) return follow(piece.rule, now);
    if (piece.kind == Piece::Kind::recall) require_known(piece.slot, piece.line, now);
    if (piece.kind == Piece::Kind::choose) {
      for (const int other : piece.unlike) require_known(other, piece.line, now);
      if (now.maybe.count(piece.slot) > 0) {
        fail(piece.line, {.what = "the slot " + slot(piece.slot) + " may have been chosen before",
                          .hint = "say it again with {" + slot(piece.slot) + "}, or use another name"});
      }
      const size_t needed = piece.unlike.size() + 1;
      if (grammar_.lists[static_cast<size_t>(piece.list)].entries.size() < needed) {
        fail(piece.line, {.what = "the list has too few entries to choose another one",
                          .expected = "at least " + std::to_string(needed)});
      }
      now.surely.insert(piece.slot);
      now.maybe.insert(piece.slot);
    }
    return now;
  }

  void require_known(int index, int line, const Known& now) const {
    if (now.surely.count(index) > 0) return;
    fail(line, {.what = "the slot " + slot(index) + " is used where it may not have been chosen",
                .expected = "[" + slot(index) + "=list] on every way to this line",
                .found = now.maybe.count(index) > 0 ? "it only on some" : "it on none"});
  }

  const StoryGrammar& grammar_;
  std::vector<std::set<int>> slot_lists_;  // [slot]: the lists it is chosen from
  std::map<int, size_t> depths_;           // of the rules that are used
  std::map<std::pair<int, Known>, Known> followed_;
};

}  // namespace

void check_story_grammar(const StoryGrammar& grammar) { Checker(grammar).check(); }

}  // namespace orrery
