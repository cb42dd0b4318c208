// What a grammar file of the story world says, as data: lists of words, and rules that put sentences together. The
// format is described at the top of story_english.grammar. A rule never leads back to itself, so every story is finite.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Language { english, chinese };
constexpr Language kLanguages[] = {Language::english, Language::chinese};
std::string_view name_of(Language language);  // "english"

// Words that a slot can stand for. An entry has one text per field: "Rosie", and "she" for the field "he".
struct WordList {
  std::string name;
  std::vector<std::string> fields;                // fields[0] is "", the entry itself
  std::vector<std::vector<std::string>> entries;  // [entry][field]
  int line = 0;                                   // of the file, from 1

  int field_index(std::string_view field) const;  // -1: there is none
};

// One piece of a sentence pattern.
struct Piece {
  enum class Kind {
    text,    // stands there as it is
    rule,    // <rule>: one alternative of it
    choose,  // [slot=list]: an entry is chosen, said, and remembered as the slot
    recall   // {slot}: the remembered entry is said again
  };
  Kind kind = Kind::text;
  std::string text = {};         // text
  int rule = -1;                 // rule: index into StoryGrammar::rules
  int list = -1;                 // choose: index into StoryGrammar::lists
  int slot = -1;                 // choose, recall: index into StoryGrammar::slots
  std::string field = {};        // choose, recall: "" says the entry itself
  bool capital = false;          // choose, recall: with a capital first letter
  std::vector<int> unlike = {};  // choose: slots whose entry must not be chosen again
  int line = 0;
};

struct Alternative {
  int weight = 1;  // its probability is weight / Rule::total_weight
  std::vector<Piece> pieces;
  int line = 0;
};

struct Rule {
  std::string name;
  std::vector<Alternative> alternatives;
  int total_weight = 0;
  int line = 0;
};

struct StoryGrammar {
  Language language = Language::english;
  std::string where;  // the file's name, for messages
  std::vector<WordList> lists;
  std::vector<std::string> slots;
  std::vector<Rule> rules;
  int story = -1;  // the rule every story begins with
};

// Throws Error with file and line. All that can be known before a story is told is checked: names, fields, rules that
// lead back to themselves or that nothing uses, slots that are said before they are chosen or chosen twice.
StoryGrammar read_story_grammar(std::string_view text, const std::string& where);

// What read_story_grammar asks of a grammar whose names are all known.
void check_story_grammar(const StoryGrammar& grammar);

// What a slot remembers while a story is told or read.
struct Binding {
  const WordList* list = nullptr;  // nullptr: not chosen yet
  int entry = -1;
};

// The text of an entry. The list has the field: check_story_grammar saw to it.
std::string said(const WordList& list, int entry, std::string_view field, bool capital);

// The weights of the entries that `piece` may choose: 1, or 0 where another slot forbids it.
std::vector<int> entry_weights(const StoryGrammar& grammar, const Piece& piece, const std::vector<Binding>& bindings);
std::vector<int> alternative_weights(const Rule& rule);

}  // namespace orrery
