// orrery compare: recurrent networks and transformers, side by side.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/progress.h"
#include "cli/session.h"
#include "compare/contest.h"
#include "compare/report.h"

namespace orrery::cli {
namespace {

ContestSettings settings_of(const CompareOptions& options) {
  ContestSettings settings = options.quick ? quick_contest() : ContestSettings();
  if (options.minutes) settings.minutes = *options.minutes;
  if (options.parameters) settings.parameters = *options.parameters;
  if (!options.parts.empty()) settings.parts = options.parts;
  if (!options.tasks.empty()) settings.tasks = options.tasks;
  if (!options.rates.empty()) settings.rates = options.rates;
  settings.equal = options.equal == "tokens" ? Equal::tokens : Equal::time;
  if (options.noise) settings.longest_noise = *options.noise;
  if (options.pairs) settings.recall.n_pairs = *options.pairs;
  settings.seed = options.seed;
  settings.threads = options.threads;
  check(settings);
  return settings;
}

void draw(const ContestSettings& settings, const ResultStore& store, const std::string& folder) {
  std::vector<std::string> files;
  const auto path = [&](const std::string& file) {
    files.push_back(file);
    return (std::filesystem::path(folder) / file).string();
  };
  for (const auto& [file, figure] : figures_of(settings, store)) write_png(figure, path(file));
  for (const auto& [file, map] : alignments_of(settings, store)) write_png(map, path(file));
  if (files.empty()) return;
  std::fprintf(stderr, "figures in %s: %s\n", printable(folder).c_str(), join(files, ", ").c_str());
}

}  // namespace

int compare(const CompareOptions& options) {
  const ContestSettings settings = settings_of(options);
  ResultStore store(options.folder, settings.key(), options.overwrite);
  std::fprintf(stderr, "settings: %s\nresults:  %s%s\n", settings.key().c_str(), printable(store.path()).c_str(),
               store.all().empty() ? "" : (", with " + std::to_string(store.all().size()) + " that are done").c_str());
  catch_interrupt();
  Progress progress("compare");
  const bool is_finished = hold_contest(settings, store, [&](double share, const std::string& piece) {
    progress.show(std::llround(1000 * share), 1000, piece);
    return !interrupted();
  });
  progress.clear();
  const std::vector<Table> tables = tables_of(settings, store);
  print(text_of(tables, options.format));
  draw(settings, store, options.folder);
  if (is_finished) return kDone;
  std::fprintf(stderr, "stopped; the same command goes on with what is missing\n");
  return kInterrupted;
}

}  // namespace orrery::cli
