// The whole comparison: a list of jobs, each of which finds something out about one model. What is found goes into a
// ResultStore at once, and a job whose findings are there is not done again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "compare/pupil.h"
#include "compare/recall_task.h"
#include "compare/results.h"

namespace orrery {

// Share of the time for learning that goes into the choice of a rate.
constexpr double kForTrials = 0.25;

enum class Equal { time, tokens };  // what the models that learn have the same of, beside parameters

struct ContestSettings {
  int64_t parameters = 60000;
  double minutes = 10;  // for all, about; most of it for learning
  Equal equal = Equal::time;
  std::vector<std::string> parts = {"costs", "names", "stories", "gradient", "recall", "sequences"};
  std::vector<std::string> tasks = {"reverse", "dates", "addition"};  // of the part "sequences"
  std::vector<double> rates = {1e-3, 3e-3, 1e-2, 3e-2};               // that each model may choose from
  std::vector<int64_t> contexts = {10, 100, 1000, 10000};
  std::vector<int64_t> lengths = {32, 128, 512};  // of texts in training
  int gradient_steps = 500;
  RecallTask recall = {.n_pairs = 2};
  int longest_noise = 400;    // between a value and its question
  int longest_sequence = 30;  // in training, of the tasks that have so long ones
  int64_t tokens_per_step = 1024;
  int pairs_per_step = 32;
  int threads = 1;
  uint64_t seed = 1;

  bool has(const std::string& part) const;
  // All of it and the build, on one line: results are kept by it.
  std::string key() const;
};

// Two and a half minutes, one task, less of everything; to recall there is a single pair, but over more noise.
ContestSettings quick_contest();
std::vector<std::string> contest_parts();
// Throws Error that names the setting.
void check(const ContestSettings& settings);

struct Job {
  std::string piece;   // "stories learning gru"
  double seconds = 0;  // that it will take, about
  // Nothing where it was asked to stop.
  std::function<std::optional<Findings>(const GoesOn& goes_on)> run;
};
// In the order in which they have to be done: the later ones use what the earlier ones found out.
std::vector<Job> jobs_of(const ContestSettings& settings, const ResultStore& store);
std::vector<Job> sequence_jobs(const ContestSettings& settings, const ResultStore& store, double seconds);

// Chooses the rate with which those who are to learn for so many seconds, trials and all, will do it.
Job rate_job(const std::string& piece, const ContestSettings& settings, double seconds,
             const std::function<std::unique_ptr<Pupil>()>& make);

// What a choice of rate and a curve are in the store.
Findings findings_of(const RateChoice& choice, const std::vector<double>& rates);
Findings findings_of(const SchoolCurve& curve);
// For how long a model shall learn: its seconds, or, where all have the same number of tokens, as many as take all of
// them together as long. `tokens_per_second`: of all, by their trials.
Budget budget_of(Equal equal, double seconds, const std::vector<double>& tokens_per_second);

// Does what is not done yet. Returns false where `on_progress`, which is told how much of all is done and what is being
// done, asked to stop; all that was finished is kept.
bool hold_contest(const ContestSettings& settings, ResultStore& store,
                  const std::function<bool(double share, const std::string& piece)>& on_progress);

// Distances at which models are asked: 5, 10, 20, 50, ... up to and with the longest.
std::vector<int> distances_up_to(int longest);
// Five lengths up to the longest of training, and some beyond where the task has them.
std::vector<int> asked_lengths(int longest_learned, int shortest, int longest);

}  // namespace orrery
