#include "compare/contest.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/build_info.h"
#include "base/error.h"
#include "base/format.h"
#include "compare/model_costs.h"
#include "compare/pupils.h"
#include "compare/tasks.h"

namespace orrery {
namespace {

constexpr double kForLearning = 0.9;  // share of the time; the rest is for costs, gradients and questions
constexpr int kQuestions = 200;       // for each distance

template <class Numbers>
std::string list_text(const Numbers& numbers) {
  std::vector<std::string> texts;
  for (const auto& number : numbers) texts.push_back(std::to_string(number));
  return join(texts, " ");
}

template <class Numbers>
std::vector<double> as_doubles(const Numbers& numbers) {
  return std::vector<double>(numbers.begin(), numbers.end());
}

// How the time for learning is shared out.
double weight_of(const ContestSettings& settings, const std::string& part) {
  if (!settings.has(part)) return 0;
  if (part == "names") return 1;
  if (part == "stories") return 2;
  if (part == "recall") return 3.5;
  if (part == "sequences") return 4.0 * static_cast<double>(settings.tasks.size());
  return 0;
}

double seconds_of(const ContestSettings& settings, const std::string& part) {
  double all = 0;
  for (const std::string& other : contest_parts()) all += weight_of(settings, other);
  return all == 0 ? 0 : settings.minutes * 60 * kForLearning * weight_of(settings, part) / all;
}

std::vector<double> speeds(const ResultStore& store, const std::string& part) {
  std::vector<double> all;
  for (const Architecture architecture : all_contestants()) {
    all.push_back(store.at(part + " rate " + name_of(architecture)).number("tokens per second"));
  }
  return all;
}

void add_costs(const ContestSettings& settings, std::vector<Job>& jobs) {
  constexpr int kVocabulary = 256, kRepetitions = 15, kSteps = 3;
  for (const Architecture architecture : all_contestants()) {
    jobs.push_back({std::string("costs ") + name_of(architecture), 4, [=](const GoesOn& goes_on) {
                      const Contestant contestant = contestant_of(architecture, kVocabulary, settings.parameters);
                      const CountedCosts counted = count_costs(contestant, settings.contexts);
                      Findings found;
                      found.words["shape"] = contestant.description();
                      found.numbers["parameters by formula"] = {static_cast<double>(counted.parameters_by_formula)};
                      found.numbers["parameters by count"] = {static_cast<double>(counted.parameters_by_count)};
                      found.numbers["contexts"] = as_doubles(settings.contexts);
                      found.numbers["flops by formula"] = as_doubles(counted.flops_by_formula);
                      found.numbers["flops by count"] = as_doubles(counted.flops_by_count);
                      found.numbers["state bytes"] = as_doubles(counted.state_bytes);
                      found.numbers["seconds"] =
                          seconds_per_token(contestant, settings.contexts, kRepetitions, Threads(1));
                      found.numbers["lengths"] = as_doubles(settings.lengths);
                      for (const int threads : {1, 2}) {
                        std::vector<double>& speeds = found.numbers["training " + std::to_string(threads)];
                        for (const int64_t length : settings.lengths) {
                          if (goes_on && !goes_on(0)) return std::optional<Findings>();
                          speeds.push_back(training_tokens_per_second(contestant, static_cast<int>(length), 2048,
                                                                      kSteps, Threads(threads)));
                        }
                      }
                      return std::optional(found);
                    }});
  }
}

void add_gradients(const ContestSettings& settings, std::vector<Job>& jobs) {
  constexpr int kTexts = 3;
  for (const Architecture architecture : all_contestants()) {
    jobs.push_back({std::string("gradient ") + name_of(architecture), 2, [=](const GoesOn&) {
                      const Contestant contestant =
                          contestant_of(architecture, settings.recall.vocab_size(), settings.parameters);
                      Findings found;
                      found.numbers["norms"] = gradient_reach(contestant, settings.gradient_steps, kTexts,
                                                              settings.seed, Threads(settings.threads));
                      return std::optional(found);
                    }});
  }
}

// First all choose their rates, then all learn.
template <class Make, class Finish>
void add_learning(const ContestSettings& settings, const ResultStore& store, const std::string& part, const Make& make,
                  const Finish& finish, std::vector<Job>& jobs) {
  const double seconds = seconds_of(settings, part) / static_cast<double>(all_contestants().size());
  for (const Architecture architecture : all_contestants()) {
    jobs.push_back(rate_job(part + " rate " + name_of(architecture), settings, seconds,
                            [=]() -> std::unique_ptr<Pupil> { return make(architecture); }));
  }
  for (const Architecture architecture : all_contestants()) {
    jobs.push_back({part + " learning " + name_of(architecture), (1 - kForTrials) * seconds,
                    [=, &store](const GoesOn& goes_on) -> std::optional<Findings> {
                      const auto pupil = make(architecture);
                      const double rate = store.at(part + " rate " + name_of(architecture)).number("rate");
                      const Budget budget = budget_of(settings.equal, (1 - kForTrials) * seconds, speeds(store, part));
                      const SchoolCurve curve = teach(*pupil, {.rate = rate}, budget, goes_on);
                      if (!curve.is_finished) return std::nullopt;
                      Findings found = findings_of(curve);
                      finish(architecture, *pupil, found);
                      return found;
                    }});
  }
}

void add_text(const ContestSettings& settings, const ResultStore& store, const std::string& text,
              std::vector<Job>& jobs) {
  // Made when it is needed first, and then kept.
  const auto kept = std::make_shared<std::unique_ptr<TextData>>();
  const auto data = [=]() -> const TextData& {
    if (*kept == nullptr) *kept = std::make_unique<TextData>(text_data(text, settings.seed));
    return **kept;
  };
  const auto contestant = [=](Architecture architecture) {
    return contestant_of(architecture, data().vocab_size, settings.parameters);
  };
  const auto make = [=](Architecture architecture) {
    return std::make_unique<TextPupil>(contestant(architecture), data(), settings.tokens_per_step,
                                       Threads(settings.threads), settings.seed);
  };
  const auto finish = [=](Architecture architecture, TextPupil&, Findings& found) {
    found.words["shape"] = contestant(architecture).description();
    found.words["text"] = data().description;
    found.numbers["parameters"] = {static_cast<double>(contestant(architecture).parameters())};
    if (data().floor > 0) found.numbers["floor"] = {data().floor};
  };
  add_learning(settings, store, text, make, finish, jobs);
}

void add_recall(const ContestSettings& settings, const ResultStore& store, std::vector<Job>& jobs) {
  const auto contestant = [=](Architecture architecture) {
    return contestant_of(architecture, settings.recall.vocab_size(), settings.parameters);
  };
  const auto make = [=](Architecture architecture) {
    return std::make_unique<RecallPupil>(contestant(architecture), settings.recall, settings.longest_noise,
                                         settings.tokens_per_step, Threads(settings.threads), settings.seed);
  };
  const auto finish = [=](Architecture architecture, RecallPupil& pupil, Findings& found) {
    found.words["shape"] = contestant(architecture).description();
    found.numbers["parameters"] = {static_cast<double>(contestant(architecture).parameters())};
    for (const int distance : distances_up_to(settings.longest_noise)) {
      found.numbers["distances"].push_back(distance);
      found.numbers["right"].push_back(pupil.accuracy(distance, kQuestions));
    }
  };
  add_learning(settings, store, "recall", make, finish, jobs);
}

}  // namespace

bool ContestSettings::has(const std::string& part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::string ContestSettings::key() const {
  std::string text = std::to_string(parameters) + " parameters, " + fixed(minutes, 3) + " minutes, equal " +
                     (equal == Equal::time ? "time" : "tokens");
  text += ", tasks " + join(tasks, " ") + ", rates";
  for (const double rate : rates) text += " " + fixed(rate, 6);
  text += ", parts " + join(parts, " ");  // they share the time
  text += ", contexts " + list_text(contexts) + ", lengths " + list_text(lengths);
  text += ", gradient " + std::to_string(gradient_steps) + ", noise " + std::to_string(longest_noise) + ", pairs " +
          std::to_string(recall.n_pairs) + ", sequences " + std::to_string(longest_sequence);
  text += ", steps of " + std::to_string(tokens_per_step) + " tokens, " + std::to_string(pairs_per_step) + " pairs";
  text += ", " + std::to_string(threads) + " threads, seed " + std::to_string(seed);
  const BuildInfo& build = build_info();
  return text + "; " + build.version + ", " + build.compiler + ", " + build.build;
}

ContestSettings quick_contest() {
  ContestSettings settings;
  settings.parameters = 40000;
  settings.minutes = 2.5;
  settings.tasks = {"reverse"};
  settings.rates = {3e-3, 1e-2, 3e-2};
  settings.recall.n_pairs = 1;
  settings.longest_noise = 1000;
  settings.longest_sequence = 24;
  return settings;
}

std::vector<std::string> contest_parts() { return ContestSettings().parts; }

void check(const ContestSettings& settings) {
  const auto require = [](bool holds, const char* name, const std::string& expected, const std::string& found) {
    if (holds) return;
    throw Error({.what = "this setting makes no sense", .where = name, .expected = expected, .found = found});
  };
  for (const std::string& part : settings.parts) {
    const std::vector<std::string> all = contest_parts();
    require(std::find(all.begin(), all.end(), part) != all.end(), "part", join(all, ", "), printable(part));
  }
  for (const std::string& task : settings.tasks) sequence_task(task);
  require(!settings.parts.empty(), "parts", "one at least", "none");
  require(!settings.has("sequences") || !settings.tasks.empty(), "tasks", "one at least", "none");
  require(settings.minutes > 0 && settings.minutes <= 24 * 60, "minutes", "more than 0, at most 1440",
          fixed(settings.minutes, 3));
  require(settings.parameters >= 2000 && settings.parameters <= 20000000, "parameters", "2,000 to 20,000,000",
          std::to_string(settings.parameters));
  require(!settings.rates.empty(), "rates", "one at least", "none");
  for (const double rate : settings.rates) require(rate > 0 && rate <= 1, "rate", "above 0, up to 1", fixed(rate, 6));
}

std::vector<Job> jobs_of(const ContestSettings& settings, const ResultStore& store) {
  std::vector<Job> jobs;
  if (settings.has("costs")) add_costs(settings, jobs);
  if (settings.has("gradient")) add_gradients(settings, jobs);
  if (settings.has("names")) add_text(settings, store, "names", jobs);
  if (settings.has("stories")) add_text(settings, store, "stories", jobs);
  if (settings.has("recall")) add_recall(settings, store, jobs);
  if (settings.has("sequences")) {
    for (Job& job : sequence_jobs(settings, store, seconds_of(settings, "sequences"))) jobs.push_back(std::move(job));
  }
  return jobs;
}

Job rate_job(const std::string& piece, const ContestSettings& settings, double seconds,
             const std::function<std::unique_ptr<Pupil>()>& make) {
  return {piece, kForTrials * seconds, [=](const GoesOn& goes_on) -> std::optional<Findings> {
            const RateChoice choice = choose_rate(make, settings.rates, {}, kForTrials * seconds, goes_on);
            if (!choice.is_finished) return std::nullopt;
            return findings_of(choice, settings.rates);
          }};
}

Findings findings_of(const RateChoice& choice, const std::vector<double>& rates) {
  Findings found;
  found.numbers["rate"] = {choice.rate};
  found.numbers["tokens per second"] = {choice.tokens_per_second};
  found.numbers["rates"] = rates;
  found.numbers["losses"] = choice.losses;
  return found;
}

Findings findings_of(const SchoolCurve& curve) {
  Findings found;
  found.numbers["tokens"] = curve.tokens;
  found.numbers["seconds"] = curve.seconds;
  found.numbers["training loss"] = curve.training_loss;
  found.numbers["judged"] = curve.judged;
  found.numbers["steps"] = {static_cast<double>(curve.steps)};
  return found;
}

Budget budget_of(Equal equal, double seconds, const std::vector<double>& tokens_per_second) {
  if (equal == Equal::time) return {.seconds = seconds, .tokens = 0};
  double seconds_of_a_token = 0;  // of all models together
  for (const double speed : tokens_per_second) seconds_of_a_token += 1 / speed;
  const double all = seconds * static_cast<double>(tokens_per_second.size());
  return {.seconds = 0, .tokens = std::max<int64_t>(1, std::llround(all / seconds_of_a_token))};
}

bool hold_contest(const ContestSettings& settings, ResultStore& store,
                  const std::function<bool(double share, const std::string& piece)>& on_progress) {
  check(settings);
  const std::vector<Job> jobs = jobs_of(settings, store);
  double all = 0, done = 0;
  for (const Job& job : jobs) all += job.seconds;
  for (const Job& job : jobs) {
    if (store.find(job.piece) == nullptr) {
      const auto goes_on = [&](double share) { return on_progress((done + share * job.seconds) / all, job.piece); };
      if (!goes_on(0)) return false;
      std::optional<Findings> found = job.run(goes_on);
      if (!found) return false;
      store.put(job.piece, std::move(*found));
    }
    done += job.seconds;
  }
  return true;
}

std::vector<int> distances_up_to(int longest) {
  std::vector<int> distances;
  for (int power = 1; power <= longest; power *= 10) {
    for (const int digit : {1, 2, 5}) {
      if (digit * power >= 5 && digit * power < longest) distances.push_back(digit * power);
    }
  }
  distances.push_back(longest);
  return distances;
}

std::vector<int> asked_lengths(int longest_learned, int shortest, int longest) {
  const int learned = std::min(longest_learned, longest);
  std::vector<int> lengths;
  for (int i = 1; i <= 7; ++i) {
    const int length = std::max(shortest, learned * i / 6);
    if (length <= longest && (lengths.empty() || lengths.back() < length)) lengths.push_back(length);
  }
  return lengths;
}

}  // namespace orrery
