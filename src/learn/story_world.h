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
#include "learn/story.h"
#include "learn/story_grammar.h"

namespace orrery {

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
