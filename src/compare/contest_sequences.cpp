// The part of the comparison where sequences are turned into others.
#include <memory>

#include "base/format.h"
#include "compare/contest.h"
#include "compare/pupils.h"
#include "compare/sequence_decoding.h"

namespace orrery {
namespace {

constexpr int kPairs = 100;  // for each length
constexpr int kShown = 12;   // letters of the pair whose alignment is drawn

// A pair that is the same for all models, and where each token of its target looks.
void add_alignment(const SequenceTask& task, SequenceLearner& learner, Findings& found) {
  if (learner.model().alignment_name().empty()) return;
  Random random(7);
  const int length = std::min(kShown, task.longest());
  const SequencePair pair = task.pair(random, length);
  std::vector<TokenId> source = task.alphabet().encode(pair.source);
  source.push_back(Alphabet::kEnd);
  const AlignmentPicture picture = alignment_of(learner.model(), source, task.longest_target(), learner.kernels());
  found.numbers["alignment"] = picture.weights;
  found.words["source"] = pair.source;
  found.words["target"] = task.alphabet().decode(picture.target);
}

// With a beam the likeliest whole target is looked for, not the likeliest next token.
double beam_accuracy(const SequenceTask& task, SequenceLearner& learner, int length, int width) {
  constexpr int kBeamPairs = 25;
  Random random(11);
  int right = 0;
  for (const SequencePair& pair : random_pairs(task, kBeamPairs, length, length, random)) {
    std::vector<TokenId> source = task.alphabet().encode(pair.source);
    source.push_back(Alphabet::kEnd);
    const auto targets = beam_search(learner.model(), source, width, task.longest_target(), learner.kernels());
    right += task.alphabet().decode(targets.front().ids) == pair.target ? 1 : 0;
  }
  return static_cast<double>(right) / kBeamPairs;
}

Findings judged(const ContestSettings& settings, const SequenceTask& task, const SequencePlan& plan,
                SequencePupil& pupil, const SchoolCurve& curve) {
  Findings found = findings_of(curve);
  found.words["shape"] = plan.description();
  found.words["task"] = task.description();
  found.words["length"] = task.length_name();
  found.numbers["parameters"] = {static_cast<double>(plan.parameters())};
  const int learned = std::min(settings.longest_sequence, task.longest());
  found.numbers["longest learned"] = {static_cast<double>(learned)};
  for (const int length : asked_lengths(learned, task.shortest(), task.longest())) {
    found.numbers["lengths"].push_back(length);
    found.numbers["right"].push_back(pupil.accuracy(length, kPairs));
  }
  found.numbers["beam"] = {beam_accuracy(task, pupil.learner(), learned, 4)};
  add_alignment(task, pupil.learner(), found);
  return found;
}

std::vector<double> speeds(const ResultStore& store, const std::string& task) {
  std::vector<double> all;
  for (const SequenceKind kind : all_sequence_kinds()) {
    all.push_back(store.at(task + " rate " + name_of(kind)).number("tokens per second"));
  }
  return all;
}

}  // namespace

std::vector<Job> sequence_jobs(const ContestSettings& settings, const ResultStore& store, double all_seconds) {
  std::vector<Job> jobs;
  const std::vector<SequenceKind> kinds = all_sequence_kinds();
  const double seconds = all_seconds / static_cast<double>(kinds.size() * settings.tasks.size());
  for (const std::string& name : settings.tasks) {
    const std::shared_ptr<const SequenceTask> task = sequence_task(name);
    const auto make = [=](SequenceKind kind) {
      return std::make_unique<SequencePupil>(plan_of(kind, *task, settings.parameters), *task,
                                             settings.longest_sequence, settings.pairs_per_step,
                                             Threads(settings.threads), settings.seed);
    };
    for (const SequenceKind kind : kinds) {
      jobs.push_back(rate_job(name + " rate " + name_of(kind), settings, seconds,
                              [=]() -> std::unique_ptr<Pupil> { return make(kind); }));
    }
    for (const SequenceKind kind : kinds) {
      jobs.push_back({name + " learning " + name_of(kind), (1 - kForTrials) * seconds,
                      [=, &store](const GoesOn& goes_on) -> std::optional<Findings> {
                        const auto pupil = make(kind);
                        const double rate = store.at(name + " rate " + name_of(kind)).number("rate");
                        const Budget budget =
                            budget_of(settings.equal, (1 - kForTrials) * seconds, speeds(store, name));
                        const SchoolCurve curve = teach(*pupil, {.rate = rate}, budget, goes_on);
                        if (!curve.is_finished) return std::nullopt;
                        return judged(settings, *task, plan_of(kind, *task, settings.parameters), *pupil, curve);
                      }});
    }
  }
  return jobs;
}

}  // namespace orrery
