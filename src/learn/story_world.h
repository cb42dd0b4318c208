// A world of short children's stories whose every choice is known. A grammar per language says what can be told
// (story_english.grammar, story_chinese.grammar); facts that are chosen once (who, where, which thing, which promise)
// are needed again later. A story has exactly one derivation, so that a parser finds the choices in the text alone,
// and -log P of a story is exact: averaged over stories it is the entropy, and no model's loss can be lower.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "learn/story_grammar.h"

namespace orrery {

// One choice of a derivation. Its probability is weight / total.
struct Choice {
  std::string name;  // of the rule or the slot: "<opening>", "hero"
  int picked = 0;    // which alternative or entry, from 0
  int weight = 1, total = 1;
};

// A place where a story says something that was chosen.
struct Mention {
  std::string slot, field, list;
  int entry = 0;               // of the list
  bool capital = false;        // said with a capital first letter
  size_t begin = 0, size = 0;  // bytes of the story's text
};

struct Story {
  Language language = Language::english;
  std::string text;               // one line of UTF-8; the last sentence is the same for all stories of a language
  std::vector<Choice> choices;    // in the order in which the text tells them
  std::vector<Mention> mentions;  // from left to right
  double log_probability = 0;     // of all choices: natural logarithm, given the language
};

// What a story can go on with: the rest of a piece (a word, or the words up to the next choice).
struct Continuation {
  std::string text;
  double probability = 0;  // given the text so far
};

// What the parser makes of a text.
struct Reading {
  int derivations = 0;  // 0: not a story of this world. 1. 2: two or more, so the grammar is ambiguous
  Story story;          // the first derivation, where there is one
  // Where there is none: the byte up to which the text could be the beginning of a story, what could come there, and
  // one line that says both.
  size_t good_bytes = 0;
  std::vector<Continuation> expected;
  std::string mistake;
};

// A story that stops where a fact is needed, and the only right way to go on.
struct RecallQuestion {
  Language language = Language::english;
  std::string prefix;              // never ends in a space: answers bring their own
  std::string answer;              // prefix + answer goes on as a story; prefix + wrong does not
  std::vector<std::string> wrong;  // at least three of the same kind; those that the prefix names come first
  std::string slot;                // "thing"
  size_t fact_end = 0;             // the byte of prefix behind the last place that tells the answer
  int distance = 0;                // from there to the end: words in English, characters in Chinese
};

struct StoryStatistics {
  int stories = 0;
  double mean_nats = 0, nats_error = 0;  // -log P: mean over the stories, and its standard error
  double mean_length = 0;                // words in English, characters in Chinese
  int shortest = 0, longest = 0;
  int vocabulary = 0;  // different words, in small letters, or different characters
};

struct GrammarSource {
  std::string text;
  std::string where;  // for messages: the file's name
};

class StoryWorld {
 public:
  static const StoryWorld& built_in();
  // At most one grammar per language. Throws Error with file and line.
  explicit StoryWorld(const std::vector<GrammarSource>& sources);

  // All of these throw Error where the world has no grammar for the language.
  Story tell(Random& random, Language language) const;
  Reading parse(std::string_view text, Language language) const;
  double log_probability(std::string_view text, Language language) const;  // -infinity: not a story
  // What can come behind the beginning of a story; empty where it is no beginning. Probabilities sum to 1.
  std::vector<Continuation> continuations(std::string_view prefix, Language language) const;
  // The language in which the text is, or begins, a story. Throws Error that says what was expected where.
  Language language_of(std::string_view text) const;
  // A question whose distance lies in the range, both ends included. Throws Error where thousands of stories have none.
  RecallQuestion question(Random& random, Language language, int min_distance, int max_distance) const;
  StoryStatistics statistics(Random& random, Language language, int stories) const;

  const StoryGrammar& grammar(Language language) const;

 private:
  std::map<Language, StoryGrammar> grammars_;
};

// The length of a text: words in English, characters (marks included) in Chinese.
int story_length(std::string_view text, Language language);

}  // namespace orrery
