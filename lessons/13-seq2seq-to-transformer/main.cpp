// Three ways to turn one sequence into another: what goes over, how long it takes, who is right, who looks where.
#include <cmath>

#include "base/clock.h"
#include "compare/pupils.h"
#include "inspect/recorder.h"
#include "lesson.h"
#include "plot/heat_map.h"
#include "plot/line_figure.h"
#include "plot/sheet.h"

using namespace orrery;
using lesson::measured, lesson::print_row;

namespace {

constexpr SequenceKind kKinds[] = {SequenceKind::gru, SequenceKind::gru_additive, SequenceKind::transformer};
constexpr int64_t kParameters = 40000;
constexpr int kLetters = 10, kLongest = 10, kPairs = 200;  // different letters; of a string in training; to judge by
constexpr int64_t kTokens = 800000;                        // that each model learns from
constexpr double kRate = 1e-2;

SequenceBatch random_pair(const SequenceTask& task, int length) {
  Random random(13);
  const SequencePair pairs[] = {task.pair(random, length)};
  return batch_of(task, pairs);
}

// The target token by token, the likeliest each time: the source is read once, and goes with every token.
std::vector<TokenId> write_target(SequenceLearner& learner, const std::vector<TokenId>& source, size_t count) {
  Arena encoded_arena, arena;
  SequenceModel& model = learner.model();
  const Encoded encoded = model.encode(std::span(&source, 1), learner.kernels(), encoded_arena);
  const std::unique_ptr<SequenceState> state = model.new_target();  // a GRU's hidden state, a transformer's KV cache
  std::vector<TokenId> ids = {Alphabet::kBegin};
  const int source_of[] = {0};
  while (ids.size() <= count) {
    const Row row{.token = ids.back(), .position = static_cast<int>(ids.size()) - 1, .state = state.get()};
    arena.reset();
    const Tensor logits = model.decode(encoded, std::span(&row, 1), source_of, learner.kernels(), arena);  // [1, vocab]
    ids.push_back(learner.kernels().largest(reshape(logits, {logits.shape[1]}), 1).front().id);
  }
  return ids;
}

// From the row of letter j of n to the row k of the target that needs it: so many steps of recurrence, or one look.
int path_length(SequenceKind kind, int n, int j, int k) {
  if (kind != SequenceKind::gru) return 1;
  const int forward = n - j, backward = j;  // to the end of either direction: the row of $, that of the first letter
  return std::min(forward, backward) + 1 + k;
}

double least_milliseconds(const std::function<void()>& work) {
  double least = INFINITY;
  for (int run = 0; run < 4; ++run) {
    const double start = seconds_now();
    work();
    least = std::min(least, 1000 * (seconds_now() - start));
  }
  return least;
}

// Weights do not matter here, so they are random ones.
void hand_over() {
  const auto task = reverse_task(kLetters, 256);
  const auto widths = {-25, 7, 8, 6, 6, 6, 9, 10};
  print_row(widths, {"untrained models", "letters", "numbers", "path", "inside", "waits", "ms, pass", "ms, write"});
  for (const SequenceKind kind : kKinds) {
    SequenceLearner learner(plan_of(kind, *task, kParameters), DType::F32, Threads(1), 1);
    for (const int n : {4, 16, 64, 256}) {
      const SequenceBatch pair = random_pair(*task, n);
      Arena arena;
      const Encoded encoded = learner.model().encode(pair.sources, learner.kernels(), arena);
      int64_t numbers = encoded.start.data == nullptr ? 0 : n_elements(encoded.start);
      for (const Tensor& keys : encoded.keys) numbers += 2 * n_elements(keys);  // and as many values
      int longest = 0;
      for (int j = 0; j < n; ++j) longest = std::max(longest, path_length(kind, n, j, n - 1 - j));
      const bool is_serial = kind != SequenceKind::transformer;
      print_row(widths,
                {name_of(kind), std::to_string(n), with_separators(numbers), std::to_string(longest),
                 std::to_string(is_serial ? n - 1 : 1), std::to_string(is_serial ? 2 * n : 0),
                 measured(least_milliseconds([&] { learner.loss(pair); }), 2),
                 measured(least_milliseconds([&] { write_target(learner, pair.sources[0], size_t(n) + 1); }), 2)});
    }
  }
}

// Where each row of the right target looks in its source, as a mean over the heads: [n + 1, n + 1].
HeatMapPanel alignment(SequenceLearner& learner, const SequenceBatch& pair) {
  Recorder seen(std::vector<std::string>{learner.model().alignment_name()});
  Observer* const observers[] = {&seen};
  Arena arena;
  std::vector<Row> rows;
  for (const TokenId id : pair.targets[0]) rows.push_back({.token = id, .position = static_cast<int>(rows.size())});
  rows.pop_back();  // nothing follows the end
  const Encoded encoded = learner.model().encode(pair.sources, learner.kernels(), arena);
  const int source_of[] = {0};
  learner.model().decode(encoded, rows, source_of, learner.kernels(), arena, observers);
  const Tensor& weights = seen[learner.model().alignment_name()];
  const size_t cells = rows.size() * pair.sources[0].size(), heads = size_t(n_elements(weights)) / cells;
  HeatMapPanel panel{.title = learner.model().name(), .values = std::vector<double>(cells)};
  for (size_t i = 0; i < heads * cells; ++i) panel.values[i % cells] += values<float>(weights)[i] / double(heads);
  return panel;
}

void learn_and_draw(const std::string& path) {
  const auto task = reverse_task(kLetters, 2 * kLongest);
  LineFigure lines{.title = "Strings that come out reversed"};
  lines.x = {.label = "letters"};
  lines.y = {.label = "share that is right", .low = 0, .high = 1.2};
  lines.moments = {{"longest in training", kLongest}};
  const SequenceBatch pair = random_pair(*task, kLongest);
  HeatMap maps{.title = "Where each letter of the target looks", .n_rows = kLongest + 1, .n_columns = kLongest + 1};
  maps.row_names = task->alphabet().letters(std::span(pair.targets[0]).subspan(1));
  maps.column_names = task->alphabet().letters(pair.sources[0]);
  maps.rows_label = "target", maps.columns_label = "source", maps.values = {.label = "weight", .low = 0, .high = 1};
  const auto widths = {-25, 10, 8, 6, 6, 6, 6, 6, 6, 8};
  std::printf("\nRight of %d strings, in percent, by letters; trained on 1 to %d letters\n", kPairs, kLongest);
  print_row(widths, {"", "parameters", "seconds", "2", "4", "6", "8", "10", "12", "mirror"});
  for (const SequenceKind kind : kKinds) {
    const SequencePlan plan = plan_of(kind, *task, kParameters);
    SequencePupil pupil(plan, *task, kLongest, 64, Threads(), 1);
    const SchoolCurve curve = teach(pupil, {.rate = kRate, .points = 1}, {.tokens = kTokens}, {});
    Series right{.name = name_of(kind), .style = Style::line_and_points};
    for (int n = 1; n <= 12; ++n) right.x.push_back(n), right.y.push_back(pupil.accuracy(n, kPairs));
    double on_mirror = 0;  // weight that a letter of the target gives to its own in the source, as a mean
    if (kind != SequenceKind::gru) {
      maps.panels.push_back(alignment(pupil.learner(), pair));
      for (size_t k = 0; k < kLongest; ++k)
        on_mirror += maps.panels.back().values[k * (kLongest + 1) + kLongest - 1 - k];
    }
    const auto percent = [&](size_t n) { return measured(100 * right.y[n - 1], 0); };
    print_row(widths, {name_of(kind), with_separators(plan.parameters()), measured(curve.all_seconds, 1), percent(2),
                       percent(4), percent(6), percent(8), percent(10), percent(12),
                       kind == SequenceKind::gru ? "-" : measured(on_mirror / kLongest, 2)});
    lines.series.push_back(std::move(right));
  }
  const Lettering letters = Lettering::of_system();
  if (!path.empty()) write_png(one_below_the_other({drawn(lines, letters), drawn(maps, letters)}), path);
}

}  // namespace

int main(int argc, char** argv) {
  return lesson::run(argc, argv, [](const std::string& figure) {
    hand_over();
    learn_and_draw(figure);
    lesson::check_source("13");
  });
}
