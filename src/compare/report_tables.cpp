#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/format.h"
#include "compare/contestant.h"
#include "compare/report.h"
#include "compare/sequence_learning.h"
#include "compare/tasks.h"
#include "plot/axis.h"

namespace orrery {
namespace {

struct Named {
  std::string name;
  const Findings* found;
};

// Those of whom there is such a piece: "recall learning gru".
template <class Kinds>
std::vector<Named> those_with(const ResultStore& store, const std::string& piece, const Kinds& kinds) {
  std::vector<Named> all;
  for (const auto kind : kinds) {
    const Findings* found = store.find(piece + " " + name_of(kind));
    if (found != nullptr) all.push_back({name_of(kind), found});
  }
  return all;
}
std::vector<Named> models_with(const ResultStore& store, const std::string& piece) {
  return those_with(store, piece, all_contestants());
}
std::vector<Named> sequence_models_with(const ResultStore& store, const std::string& piece) {
  return those_with(store, piece, all_sequence_kinds());
}

std::string whole(double value) { return std::isnan(value) ? "-" : with_separators(std::llround(value)); }
std::string percent(double share) { return std::isnan(share) ? "-" : fixed(100 * share, 0) + "%"; }
std::string few_digits(double value) { return std::isnan(value) ? "-" : short_number(value); }

using Cell = std::function<std::string(const Findings& found, size_t column)>;

// A row for each model, a column for each number of a list that all of them have.
Table table_over(const std::string& title, const std::string& note, const std::vector<Named>& models,
                 const std::string& list, const Cell& cell) {
  Table table{.title = title, .note = note, .columns = {"model"}, .rows = {}};
  const std::vector<double>& columns = models.front().found->list(list);
  for (const double column : columns) table.columns.push_back(whole(column));
  for (const Named& model : models) {
    table.rows.push_back({model.name});
    for (size_t i = 0; i < columns.size(); ++i) table.rows.back().push_back(cell(*model.found, i));
  }
  return table;
}

double at(const Findings& found, const std::string& list, size_t i) {
  const std::vector<double>& values = found.list(list);
  return i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
}

void add_costs(const ResultStore& store, std::vector<Table>& tables) {
  const std::vector<Named> models = models_with(store, "costs");
  if (models.empty()) return;
  Table shapes{.title = "Models", .note = "", .columns = {"model", "shape", "parameters", "counted"}, .rows = {}};
  for (const Named& model : models) {
    shapes.rows.push_back({model.name, model.found->word("shape"), whole(model.found->number("parameters by formula")),
                           whole(model.found->number("parameters by count"))});
  }
  tables.push_back(shapes);
  tables.push_back(table_over(
      "Floating-point operations of a token, by what came before",
      "By formula; in brackets as counted while it computes.", models, "contexts", [](const Findings& found, size_t i) {
        return whole(at(found, "flops by formula", i)) + " (" + whole(at(found, "flops by count", i)) + ")";
      }));
  tables.push_back(table_over("Bytes that a sequence remembers", "", models, "contexts",
                              [](const Findings& found, size_t i) { return whole(at(found, "state bytes", i)); }));
  tables.push_back(table_over("Microseconds of a token, by what came before", "One sequence, one thread.", models,
                              "contexts",
                              [](const Findings& found, size_t i) { return fixed(1e6 * at(found, "seconds", i), 0); }));
  tables.push_back(
      table_over("Tokens of training in a second, by the length of a text", "With one thread; in brackets with two.",
                 models, "lengths", [](const Findings& found, size_t i) {
                   return whole(at(found, "training 1", i)) + " (" + whole(at(found, "training 2", i)) + ")";
                 }));
}

// The lowest loss on a curve: who overfits would have stopped there.
double lowest(const Findings& found) {
  const std::vector<double>& losses = found.list("judged");
  return losses.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::min_element(losses.begin(), losses.end());
}

void add_text(const ResultStore& store, const std::string& text, std::vector<Table>& tables) {
  const std::vector<Named> models = models_with(store, text + " learning");
  if (models.empty()) return;
  Table table{.title = "Loss on held-out " + text + ", nats per token",
              .note = models.front().found->word("text") + ". The lowest loss on the way counts.",
              .columns = {"model", "shape", "parameters", "rate", "steps", "tokens", "seconds", "loss"},
              .rows = {}};
  if (const double floor = models.front().found->number("floor"); floor > 0) {
    table.note += " The lowest possible loss is " + fixed(floor, 3) + ".";
  }
  for (const Named& model : models) {
    const Findings& found = *model.found;
    const double rate = store.at(text + " rate " + model.name).number("rate");
    table.rows.push_back({model.name, found.word("shape"), whole(found.number("parameters")), few_digits(rate),
                          whole(found.number("steps")), whole(found.list("tokens").back()),
                          fixed(found.list("seconds").back(), 1), fixed(lowest(found), 3)});
  }
  tables.push_back(table);
}

void add_gradient(const ResultStore& store, std::vector<Table>& tables) {
  const std::vector<Named> models = models_with(store, "gradient");
  if (models.empty()) return;
  const std::vector<size_t> steps = {1, 10, 50, 100, 200, 500};
  Table table{.title = "What arrives of a gradient after so many steps back",
              .note = "Next to what arrives where the loss is; before anything was learned.",
              .columns = {"model"},
              .rows = {}};
  for (const size_t step : steps) table.columns.push_back(std::to_string(step));
  for (const Named& model : models) {
    table.rows.push_back({model.name});
    for (const size_t step : steps) {
      const double share = at(*model.found, "norms", step) / at(*model.found, "norms", 0);
      table.rows.back().push_back(few_digits(share));
    }
  }
  tables.push_back(table);
}

void add_recall(const ContestSettings& settings, const ResultStore& store, std::vector<Table>& tables) {
  const std::vector<Named> models = models_with(store, "recall learning");
  if (models.empty()) return;
  Table table = table_over(
      "Right answers, by the noise between a value and the question",
      std::to_string(settings.recall.n_pairs) + (settings.recall.n_pairs == 1 ? " pair" : " pairs") +
          "; guessing is right in " + percent(settings.recall.chance()) + ". They learned from questions over 0 to " +
          whole(models.front().found->list("distances").back()) +
          " tokens of noise, short ones as often as long ones. The reach is the longest noise up to which "
          "nine of ten answers are right.",
      models, "distances", [](const Findings& found, size_t i) { return percent(at(found, "right", i)); });
  for (const char* column : {"reach", "rate", "tokens"}) table.columns.push_back(column);
  for (size_t i = 0; i < models.size(); ++i) {
    const Findings& found = *models[i].found;
    const double reach = reach_of(found.list("distances"), found.list("right"));
    table.rows[i].push_back(reach < 0 ? "none" : whole(reach));
    table.rows[i].push_back(few_digits(store.at("recall rate " + models[i].name).number("rate")));
    table.rows[i].push_back(whole(found.list("tokens").back()));
  }
  tables.push_back(table);
}

void add_sequences(const ResultStore& store, const std::string& task, std::vector<Table>& tables) {
  const std::vector<Named> models = sequence_models_with(store, task + " learning");
  if (models.empty()) return;
  const Findings& first = *models.front().found;
  Table table = table_over(
      "Whole targets that are right, " + task + ", by the " + first.word("length"),
      "The target: " + first.word("task") + ". Learned up to " + whole(first.number("longest learned")) +
          "; greedily decoded, 'beam' with four beginnings at that length. The last columns: seconds of training until "
          "nine of ten were right, and in all.",
      models, "lengths", [](const Findings& found, size_t i) { return percent(at(found, "right", i)); });
  for (const char* column : {"beam", "parameters", "rate", "tokens", "to 90%", "seconds"})
    table.columns.push_back(column);
  for (size_t i = 0; i < models.size(); ++i) {
    const Findings& found = *models[i].found;
    const double arrival = arrival_of(found.list("seconds"), found.list("judged"));
    const std::vector<std::string> more = {percent(found.number("beam")),
                                           whole(found.number("parameters")),
                                           few_digits(store.at(task + " rate " + models[i].name).number("rate")),
                                           whole(found.list("tokens").back()),
                                           std::isnan(arrival) ? "-" : fixed(arrival, 1),
                                           fixed(found.list("seconds").back(), 1)};
    table.rows[i].insert(table.rows[i].end(), more.begin(), more.end());
  }
  tables.push_back(table);
}

// The names of all whose value is the best; values within 1% of it are as good. None where nobody can do it at all.
std::string best_of(const std::vector<Named>& models, bool is_lowest,
                    const std::function<double(const Findings&)>& value) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const Named& model : models) {
    const double one = value(*model.found);
    if (std::isnan(best) || (is_lowest ? one < best : one > best)) best = one;
  }
  if (!is_lowest && !(best > 0)) return "none";
  std::vector<std::string> names;
  for (const Named& model : models) {
    if (std::abs(value(*model.found) - best) <= 0.01 * std::abs(best)) names.push_back(model.name);
  }
  return names.empty() ? "-" : join(names, ", ");
}

}  // namespace

double reach_of(const std::vector<double>& distances, const std::vector<double>& right, double enough) {
  double reach = -1;
  for (size_t i = 0; i < right.size() && right[i] >= enough; ++i) reach = distances[i];
  return reach;
}

double arrival_of(const std::vector<double>& x, const std::vector<double>& judged, double enough) {
  for (size_t i = 0; i < judged.size(); ++i) {
    if (judged[i] >= enough) return x[i];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Table verdicts_of(const ContestSettings& settings, const ResultStore& store) {
  Table table{.title = "Who is best at what", .note = "", .columns = {"of", "best"}, .rows = {}};
  const auto add = [&](const std::string& what, const std::vector<Named>& models, bool is_lowest,
                       const std::function<double(const Findings&)>& value) {
    if (!models.empty()) table.rows.push_back({what, best_of(models, is_lowest, value)});
  };
  const std::vector<Named> costs = models_with(store, "costs");
  const size_t last = settings.contexts.size() - 1;
  for (const size_t i : {size_t{0}, last}) {
    const std::string after = " after " + whole(static_cast<double>(settings.contexts[i])) + " others";
    add("time of a token" + after, costs, true, [=](const Findings& found) { return at(found, "seconds", i); });
    add("memory of a sequence" + after, costs, true,
        [=](const Findings& found) { return at(found, "state bytes", i); });
  }
  add("training speed, texts of " + std::to_string(settings.lengths.back()) + " tokens", costs, false,
      [&](const Findings& found) { return at(found, "training 1", settings.lengths.size() - 1); });
  for (const std::string text : {"names", "stories"}) {
    add("loss on " + text, models_with(store, text + " learning"), true,
        [](const Findings& found) { return lowest(found); });
  }
  add("gradient over 100 steps", models_with(store, "gradient"), false,
      [](const Findings& found) { return at(found, "norms", 100) / at(found, "norms", 0); });
  add("reach of recall", models_with(store, "recall learning"), false,
      [](const Findings& found) { return reach_of(found.list("distances"), found.list("right")); });
  for (const std::string& task : sequence_task_names()) {
    add(task + ", longest that was learned", sequence_models_with(store, task + " learning"), false,
        [](const Findings& found) {
          const std::vector<double>& lengths = found.list("lengths");
          const auto place = std::find(lengths.begin(), lengths.end(), found.number("longest learned"));
          return at(found, "right", static_cast<size_t>(place - lengths.begin()));
        });
  }
  return table;
}

std::vector<Table> tables_of(const ContestSettings& settings, const ResultStore& store) {
  std::vector<Table> tables;
  add_costs(store, tables);
  add_text(store, "names", tables);
  add_text(store, "stories", tables);
  add_gradient(store, tables);
  add_recall(settings, store, tables);
  for (const std::string& task : sequence_task_names()) add_sequences(store, task, tables);
  if (!tables.empty()) tables.push_back(verdicts_of(settings, store));
  return tables;
}

}  // namespace orrery
