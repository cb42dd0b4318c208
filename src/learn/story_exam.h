// How well a model has learned the StoryWorld, judged by the world itself: its loss beside the lowest possible one,
// the facts it recalls over a distance, and the stories it tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/sampler.h"
#include "learn/story_lines.h"
#include "measure/score.h"

namespace orrery {

// ---- Loss and floor ---------------------------------------------------------------------------------------------

struct ScoredStory {
  Language language = Language::english;
  int tokens = 0;         // with the end token, without the beginning one
  double model_nats = 0;  // -log p of all these tokens
  double floor_nats = 0;  // -log P in the world, and ln 2 for the language, which the model is not told
};

struct LossResult {
  std::vector<ScoredStory> stories;
  int too_long = 0;  // stories that do not fit the context; they are left out
};

// Of some stories together. Nats per token: sums over all stories, divided by the sum of their tokens.
struct LossSummary {
  int stories = 0;
  int64_t tokens = 0;
  double model = 0, floor = 0;  // nats per token
  double excess = 0;            // model - floor
  double excess_error = 0;      // its standard error: that of a quotient of sums over stories; 0 for less than two
  double excess_per_story = 0;  // nats
};
LossSummary summarize(const std::vector<ScoredStory>& stories, std::optional<Language> language = {});

// ---- Recall -----------------------------------------------------------------------------------------------------

struct DistanceRange {  // words in English, characters in Chinese; both ends included
  int least = 0, most = 0;
};

struct RecallPlan {
  std::vector<DistanceRange> ranges = {{1, 25}, {26, 50}, {51, 100}, {101, 150}, {151, 1000}};
  int questions = 200;  // for each range, half of them in each language
  uint64_t seed = 0;
};

struct RecallAnswer {
  Language language = Language::english;
  std::string slot;
  size_t range = 0;        // index into RecallPlan::ranges
  int distance = 0;        // words or characters
  int token_distance = 0;  // whole tokens behind the last one that tells the fact, up to the end of the prefix
  int choices = 0;         // the right answer and the wrong ones
  bool is_right = false;   // the right one is likelier than every other
};

struct RecallResult {
  std::vector<RecallAnswer> answers;
  int too_long = 0;  // questions that do not fit the context; they are left out
};

struct RecallTally {
  int right = 0, asked = 0;
  double by_chance = 0;  // how many would be right by guessing

  void add(const RecallAnswer& answer);
  double share() const { return asked == 0 ? 0 : static_cast<double>(right) / asked; }
};

// Questions of one range, the kinds of facts as evenly as the world has them.
std::vector<RecallQuestion> balanced_questions(const StoryWorld& world, Random& random, Language language,
                                               const DistanceRange& range, int count);

// ---- Telling ----------------------------------------------------------------------------------------------------

struct TellPlan {
  int stories = 200;
  uint64_t seed = 0;
  SamplerSettings sampler = kWholeDistribution;  // the model as it is
  int max_tokens = 1000;                         // of a story
  int together = 32;                             // stories in one forward pass
  const KnownLines* training = nullptr;
};

struct ToldStory {
  std::string text;
  Language language = Language::english;  // as judge_story() finds it
  int tokens = 0;                         // without the end token
  int length = 0;                         // words or characters
  bool is_finished = false;               // by an end token, before max_tokens and the end of the context
  bool is_story = false;                  // finished, and the world's parser accepts it
  bool is_known = false;                  // a line of the training text
  std::string mistake;                    // in plain words, where it is no story
};

// ---- The exam ---------------------------------------------------------------------------------------------------

class StoryExam {
 public:
  // All must outlive it. Throws Error where the tokenizer has no token that begins or ends a text.
  StoryExam(const StoryWorld& world, LanguageModel& model, const Tokenizer& tokenizer, Kernels& kernels, Arena& arena);

  // All of these: where `on_progress` gives up, they return what is done.

  // The model's -log p of `stories` stories behind the beginning token, English and Chinese by turns.
  LossResult loss(int stories, uint64_t seed, const OnProgress& on_progress = {});
  // Whether p(answer | prefix) is larger than that of every wrong answer. See score_answers() in story_recall.cpp for
  // what that means where the answer's last token may reach beyond it.
  RecallResult recall(const RecallPlan& plan, const OnProgress& on_progress = {});
  // log p of each of these ways on, given the text of `prefix`, but for a part that is the same for all of them: the
  // tokens that they have in common. Empty where one of them does not fit the context.
  std::vector<double> score_answers(const std::string& prefix, const std::vector<std::string>& answers);
  // Stories that the model tells from the beginning token on, in the order of their beginning. Each has a sampler of
  // its own.
  std::vector<ToldStory> tell(const TellPlan& plan, const OnProgress& on_progress = {});

 private:
  struct Telling;  // a story that is being told
  void step(std::vector<Telling>& tellings, const TellPlan& plan);
  ToldStory judged(const Telling& telling, const TellPlan& plan) const;
  std::vector<TokenId> tokens_beginning_with(std::string_view bytes) const;

  const StoryWorld& world_;
  LanguageModel& model_;
  const Tokenizer& tokenizer_;
  Kernels& kernels_;
  Arena& arena_;
  TokenId begin_, end_;
  std::vector<std::pair<std::string, TokenId>> pieces_;  // of all tokens that print something, sorted by their bytes
};

}  // namespace orrery
