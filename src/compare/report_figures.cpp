#include <algorithm>
#include <cmath>

#include "compare/contestant.h"
#include "compare/report.h"
#include "compare/sequence_learning.h"
#include "compare/tasks.h"

namespace orrery {
namespace {

using Figures = std::vector<std::pair<std::string, LineFigure>>;

std::vector<std::string> language_models() {
  std::vector<std::string> names;
  for (const Architecture architecture : all_contestants()) names.emplace_back(name_of(architecture));
  return names;
}

std::vector<std::string> sequence_models() {
  std::vector<std::string> names;
  for (const SequenceKind kind : all_sequence_kinds()) names.emplace_back(name_of(kind));
  return names;
}

// A line for each model that has the piece "PIECE MODEL".
void add_figure(const ResultStore& store, const std::string& file, LineFigure figure,
                const std::vector<std::string>& models, const std::string& piece, const std::string& x,
                const std::string& y, Style style, Figures& figures) {
  for (const std::string& model : models) {
    const Findings* found = store.find(piece + " " + model);
    if (found == nullptr) continue;
    figure.series.push_back({.name = model, .x = found->list(x), .y = found->list(y), .style = style});
  }
  if (!figure.series.empty()) figures.emplace_back(file, std::move(figure));
}

void add_costs(const ResultStore& store, Figures& figures) {
  const AxisOptions before{.label = "tokens before it", .scale = Scale::logarithmic};
  add_figure(store, "time.png",
             {.title = "Seconds of a token", .x = before, .y = {.label = "seconds", .scale = Scale::logarithmic}},
             language_models(), "costs", "contexts", "seconds", Style::line_and_points, figures);
  add_figure(store, "memory.png",
             {.title = "What a sequence remembers", .x = before, .y = {.label = "bytes", .scale = Scale::logarithmic}},
             language_models(), "costs", "contexts", "state bytes", Style::line_and_points, figures);
  add_figure(store, "training-speed.png",
             {.title = "Training with two threads",
              .x = {.label = "tokens of a text", .scale = Scale::logarithmic},
              .y = {.label = "tokens per second", .low = 0}},
             language_models(), "costs", "lengths", "training 2", Style::line_and_points, figures);
}

void add_text(const ResultStore& store, const std::string& text, Figures& figures) {
  for (const std::string x : {"tokens", "seconds"}) {
    LineFigure figure{
        .title = "Loss on held-out " + text, .x = {.label = x + " of training"}, .y = {.label = "nats per token"}};
    for (const std::string& model : language_models()) {
      const double floor = store.at(text + " learning " + model).number("floor");
      if (floor > 0 && figure.levels.empty()) figure.levels.push_back({"lowest possible loss", floor});
    }
    add_figure(store, text + "-" + x + ".png", std::move(figure), language_models(), text + " learning", x, "judged",
               Style::line_and_points, figures);
  }
}

// Each line begins at 1.
void add_gradient(const ResultStore& store, Figures& figures) {
  LineFigure figure{.title = "What arrives of a gradient before anything was learned",
                    .x = {.label = "steps back"},
                    .y = {.label = "length, next to where the loss is", .scale = Scale::logarithmic}};
  // Below, a float has nothing but 0.
  constexpr double kLeast = 1e-30;
  for (const std::string& model : language_models()) {
    const Findings* found = store.find("gradient " + model);
    if (found == nullptr) continue;
    Series series{.name = model, .x = {}, .y = {}};
    const std::vector<double>& norms = found->list("norms");
    for (size_t step = 0; step < norms.size() && norms[step] > kLeast * norms[0]; ++step) {
      series.x.push_back(static_cast<double>(step));
      series.y.push_back(norms[step] / norms[0]);
    }
    figure.series.push_back(std::move(series));
  }
  if (!figure.series.empty()) figures.emplace_back("gradient.png", std::move(figure));
}

void add_recall(const ContestSettings& settings, const ResultStore& store, Figures& figures) {
  add_figure(store, "recall.png",
             {.title = "Recall over noise",
              .x = {.label = "tokens of noise", .scale = Scale::logarithmic},
              .y = {.label = "share of right answers", .low = 0, .high = 1.05},
              .levels = {{"guessing", settings.recall.chance()}}},
             language_models(), "recall learning", "distances", "right", Style::line_and_points, figures);
}

void add_sequences(const ResultStore& store, const std::string& task, Figures& figures) {
  const Findings* any = nullptr;
  for (const std::string& model : sequence_models()) {
    if (any == nullptr) any = store.find(task + " learning " + model);
  }
  if (any == nullptr) return;
  const AxisOptions right{.label = "share of right targets", .low = 0, .high = 1.1};
  add_figure(store, task + "-length.png",
             {.title = "The task '" + task + "' by length",
              .x = {.label = any->word("length")},
              .y = right,
              .moments = {{"longest in training", any->number("longest learned")}}},
             sequence_models(), task + " learning", "lengths", "right", Style::line_and_points, figures);
  add_figure(
      store, task + "-seconds.png",
      {.title = "The task '" + task + "' while it is learned", .x = {.label = "seconds of training"}, .y = right},
      sequence_models(), task + " learning", "seconds", "judged", Style::line_and_points, figures);
}

std::vector<std::string> letters_of(const std::string& text) {
  std::vector<std::string> letters;
  for (const char c : text) letters.emplace_back(1, c);
  letters.emplace_back("$");
  return letters;
}

}  // namespace

std::vector<std::pair<std::string, LineFigure>> figures_of(const ContestSettings& settings, const ResultStore& store) {
  Figures figures;
  add_costs(store, figures);
  add_text(store, "names", figures);
  add_text(store, "stories", figures);
  add_gradient(store, figures);
  add_recall(settings, store, figures);
  for (const std::string& task : sequence_task_names()) add_sequences(store, task, figures);
  return figures;
}

std::vector<std::pair<std::string, HeatMap>> alignments_of(const ContestSettings&, const ResultStore& store) {
  std::vector<std::pair<std::string, HeatMap>> maps;
  for (const std::string& task : sequence_task_names()) {
    for (const SequenceKind kind : all_sequence_kinds()) {
      const Findings& found = store.at(task + " learning " + name_of(kind));
      const std::vector<double>& weights = found.list("alignment");
      const std::vector<std::string> columns = letters_of(found.word("source")),
                                     rows = letters_of(found.word("target"));
      if (weights.empty() || weights.size() != rows.size() * columns.size()) continue;
      HeatMap map{.title = "Alignment: " + task + ", " + name_of(kind)};
      map.n_rows = rows.size();
      map.n_columns = columns.size();
      map.row_names = rows;
      map.column_names = columns;
      map.rows_label = "target";
      map.columns_label = "source";
      map.panels = {{.title = "", .values = weights}};
      map.values = {.label = "weight", .low = 0, .high = 1};
      map.width = 800;
      std::string file = task + "-alignment-" + name_of(kind) + ".png";
      std::erase(file, '+');
      std::replace(file.begin(), file.end(), ' ', '-');
      for (size_t place; (place = file.find("--")) != std::string::npos;) file.erase(place, 1);
      maps.emplace_back(file, std::move(map));
    }
  }
  return maps;
}

}  // namespace orrery
