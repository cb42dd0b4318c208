// orrery eval: judge a model by stories whose every choice is known, and by pairs of sentences.
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "base/progress.h"
#include "cli/eval_report.h"
#include "cli/session.h"

namespace orrery::cli {
namespace {

constexpr int kStories = 500, kRecall = 200, kTell = 200;  // where nothing is asked for

// "at temperature 0.80, top-k 40": how tokens are drawn.
std::string description(const SamplerSettings& sampler) {
  std::string text = "at temperature " + fixed(sampler.temperature, 2);
  if (sampler.top_k > 0) text += ", top-k " + std::to_string(sampler.top_k);
  if (sampler.top_p < 1) text += ", top-p " + fixed(sampler.top_p, 2);
  if (sampler.min_p > 0) text += ", min-p " + fixed(sampler.min_p, 2);
  return text;
}

// What is asked for, with its heads and results.
class Evaluation {
 public:
  Evaluation(const EvalOptions& options, Session& session) : options_(options), session_(session) {
    if (!options.training.empty()) training_ = std::make_unique<const KnownLines>(options.training);
  }

  void pairs() {
    const std::vector<SentencePair> pairs = read_sentence_pairs(options_.pairs);
    const std::string head = with_separators(std::ssize(pairs)) + " pairs of sentences: is the good one likelier?";
    const auto result = judge_sentence_pairs(*session_.model, *session_.tokenizer, pairs, *session_.kernels,
                                             session_.arena, progress("sentences"));
    finish("pairs", head, pairs_table(result), pairs_json(result));
  }

  void loss(int stories) {
    const std::string head =
        "loss on " + with_separators(stories) + " new stories, ends of stories too, beside the lowest possible";
    const LossResult result = exam().loss(stories, options_.seed, progress("stories"));
    finish("loss", head, loss_table(result), loss_json(result));
  }

  void recall(int questions) {
    const RecallPlan plan{.questions = questions, .seed = options_.seed};
    const std::string head = with_separators(questions) + " questions for each distance from a fact to where it is " +
                             "needed: is the right answer likelier than every wrong one?";
    const RecallResult result = exam().recall(plan, progress("questions"));
    finish("recall", head, recall_table(result, plan), recall_json(result, plan));
  }

  void tell(int stories) {
    TellPlan plan{.stories = stories, .seed = options_.seed, .sampler = options_.sampler};
    const std::string head = with_separators(stories) + " stories that the model tells, " + description(plan.sampler);
    plan.training = training_.get();
    const bool knows_training = training_ != nullptr;
    const std::vector<ToldStory> told = exam().tell(plan, progress("telling"));
    finish("told", head, told_table(told, knows_training), told_json(told, knows_training));
  }

  void print_json() const {
    if (options_.json) print(json_object(members_) + "\n");
  }

 private:
  StoryExam exam() {
    return {StoryWorld::built_in(), *session_.model, *session_.tokenizer, *session_.kernels, session_.arena};
  }

  OnProgress progress(const std::string& label) {
    progress_ = std::make_unique<Progress>(label);
    return [this](int64_t done, int64_t all) {
      progress_->show(done, all);
      return !interrupted();
    };
  }

  // The part is printed under its head, unless Ctrl-C left it unfinished.
  void finish(const std::string& name, const std::string& head, const std::string& table, const std::string& json) {
    progress_.reset();
    if (interrupted()) return;
    if (options_.json) {
      members_.emplace_back(name, json);
    } else {
      print((is_first_ ? "" : "\n") + head + "\n" + table);
      is_first_ = false;
    }
  }

  const EvalOptions& options_;
  Session& session_;
  std::unique_ptr<const KnownLines> training_;  // nullptr: not given
  std::unique_ptr<Progress> progress_;
  JsonMembers members_;
  bool is_first_ = true;
};

}  // namespace

int eval(const EvalOptions& given) {
  EvalOptions options = given;
  check(options.sampler);
  if (options.pairs.empty() && !options.stories && !options.recall && !options.tell) {
    options.stories = kStories;
    options.recall = kRecall;
    options.tell = kTell;
  }
  if (!options.training.empty() && !options.tell) options.tell = kTell;  // it is about nothing else
  const auto session = open_session(options.model, true);
  print_banner(*session, options.model);
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(options.seed));
  catch_interrupt();
  Evaluation evaluation(options, *session);
  if (!options.pairs.empty()) evaluation.pairs();
  if (options.stories && !interrupted()) evaluation.loss(*options.stories);
  if (options.recall && !interrupted()) evaluation.recall(*options.recall);
  if (options.tell && !interrupted()) evaluation.tell(*options.tell);
  if (interrupted()) return kInterrupted;
  evaluation.print_json();
  return kDone;
}

}  // namespace orrery::cli
