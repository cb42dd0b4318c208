#include "compare/sequence_decoding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace orrery {
namespace {

// The logarithm of the sum of exp over a row of logits.
double log_total(const Tensor& logits, int64_t row) {
  const int64_t n = logits.shape[1];
  double largest = element(logits, row * n), sum = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, element(logits, row * n + i));
  for (int64_t i = 0; i < n; ++i) sum += std::exp(element(logits, row * n + i) - largest);
  return largest + std::log(sum);
}

struct Hypothesis {
  DecodedTarget target;
  std::unique_ptr<SequenceState> state;
};

// One more token of each target: logits [targets, vocab].
Tensor next_logits(SequenceModel& model, const Encoded& encoded, std::span<const Hypothesis* const> targets,
                   std::span<const int> source_of, Kernels& kernels, Arena& arena) {
  std::vector<Row> rows;
  for (const Hypothesis* one : targets) {
    const auto length = static_cast<int>(one->target.ids.size());
    rows.push_back({.token = length == 0 ? Alphabet::kBegin : one->target.ids.back(),
                    .position = length,
                    .state = one->state.get()});
  }
  arena.reset();
  return model.decode(encoded, rows, source_of, kernels, arena);
}

struct Step {  // one way to go on
  size_t from = 0;
  TokenId token = 0;
  double log_probability = 0;
};

// The `width` likeliest ways to go on from all beginnings, likeliest first; `must_end`: with the end alone.
std::vector<Step> best_steps(const Tensor& logits, std::span<const Hypothesis* const> open, size_t width,
                             bool must_end) {
  std::vector<Step> steps;
  const int64_t vocab = logits.shape[1];
  for (size_t i = 0; i < open.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const double total = log_total(logits, row), before = open[i]->target.log_probability;
    for (int64_t id = 0; id < vocab; ++id) {
      if (must_end && id != Alphabet::kEnd) continue;
      const double sum = before + element(logits, row * vocab + id) - total;
      // NaN, which has no place in an order, is the unlikeliest.
      steps.push_back({i, static_cast<TokenId>(id), std::isnan(sum) ? -std::numeric_limits<double>::infinity() : sum});
    }
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(width, steps.size()));
  std::partial_sort(steps.begin(), steps.begin() + kept, steps.end(), [](const Step& a, const Step& b) {
    if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
    return a.from != b.from ? a.from < b.from : a.token < b.token;
  });
  steps.resize(static_cast<size_t>(kept));
  return steps;
}

}  // namespace

std::vector<DecodedTarget> greedy(SequenceModel& model, std::span<const std::vector<TokenId>> sources, int longest,
                                  Kernels& kernels) {
  Arena encoded_arena, arena;
  const Encoded encoded = model.encode(sources, kernels, encoded_arena);
  std::vector<Hypothesis> all(sources.size());
  for (Hypothesis& one : all) one.state = model.new_target();
  for (int length = 0;; ++length) {
    std::vector<Hypothesis*> open;
    std::vector<int> source_of;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].target.is_finished) continue;
      open.push_back(&all[i]);
      source_of.push_back(static_cast<int>(i));
    }
    if (open.empty() || length > longest) break;
    const Tensor logits = next_logits(model, encoded, open, source_of, kernels, arena);
    for (size_t i = 0; i < open.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const Tensor line = reshape(slice_rows(logits, row, 1), {logits.shape[1]});
      const TokenId token = kernels.largest(line, 1).front().id;
      DecodedTarget& target = open[i]->target;
      if (length == longest && token != Alphabet::kEnd) continue;
      target.log_probability += element(line, token) - log_total(logits, row);
      target.is_finished = token == Alphabet::kEnd;
      if (!target.is_finished) target.ids.push_back(token);
    }
  }
  std::vector<DecodedTarget> targets;
  for (Hypothesis& one : all) targets.push_back(std::move(one.target));
  return targets;
}

std::vector<DecodedTarget> beam_search(SequenceModel& model, const std::vector<TokenId>& source, int width, int longest,
                                       Kernels& kernels) {
  if (width < 1) {
    throw Error(
        {.what = "a beam has no width", .where = "beam", .expected = "at least 1", .found = std::to_string(width)});
  }
  Arena encoded_arena, arena;
  const Encoded encoded = model.encode(std::span(&source, 1), kernels, encoded_arena);
  std::vector<DecodedTarget> finished;
  std::vector<Hypothesis> open(1);
  open.front().state = model.new_target();
  const auto is_better = [](const DecodedTarget& a, const DecodedTarget& b) {
    return a.log_probability != b.log_probability ? a.log_probability > b.log_probability : a.ids < b.ids;
  };
  for (int length = 0; !open.empty(); ++length) {
    std::vector<const Hypothesis*> pointers;
    for (const Hypothesis& one : open) pointers.push_back(&one);
    const std::vector<int> source_of(open.size(), 0);
    const Tensor logits = next_logits(model, encoded, pointers, source_of, kernels, arena);
    std::vector<Hypothesis> next;
    for (const Step& step : best_steps(logits, pointers, static_cast<size_t>(width), length == longest)) {
      const Hypothesis& from = open[step.from];
      DecodedTarget target{.ids = from.target.ids, .log_probability = step.log_probability, .is_finished = false};
      if (step.token == Alphabet::kEnd) {
        target.is_finished = true;
        finished.push_back(std::move(target));
      } else {
        target.ids.push_back(step.token);
        next.push_back({std::move(target), from.state->fork()});
      }
    }
    std::sort(finished.begin(), finished.end(), is_better);
    if (finished.size() > static_cast<size_t>(width)) finished.resize(static_cast<size_t>(width));
    // Probabilities only fall: what is worse than all that has ended cannot win any more.
    if (finished.size() == static_cast<size_t>(width)) {
      std::erase_if(next, [&](const Hypothesis& one) { return !is_better(one.target, finished.back()); });
    }
    open = std::move(next);
  }
  return finished;
}

namespace {

// Adds up the weights that a pass shows, over heads, row by row.
struct AlignmentObserver : Observer {
  AlignmentObserver(std::string wanted, int64_t n_columns) : name(std::move(wanted)), columns(n_columns) {}

  bool wants(const Probe& probe) const override { return probe.name == name; }
  void on_tensor(const Probe&, Tensor& tensor) override {
    const int64_t n_rows = tensor.shape[tensor.n_dims - 2], n_heads = tensor.n_dims == 3 ? tensor.shape[0] : 1;
    std::vector<double> sums(static_cast<size_t>(n_rows * columns));
    for (int64_t i = 0; i < n_heads * n_rows * columns; ++i) {
      sums[static_cast<size_t>(i % (n_rows * columns))] += element(tensor, i) / static_cast<double>(n_heads);
    }
    weights.insert(weights.end(), sums.begin(), sums.end());
  }

  std::string name;
  int64_t columns;
  std::vector<double> weights;
};

}  // namespace

AlignmentPicture alignment_of(SequenceModel& model, const std::vector<TokenId>& source, int longest, Kernels& kernels) {
  if (model.alignment_name().empty()) {
    throw Error({.what = "this model does not look back at its source", .where = model.name()});
  }
  AlignmentPicture picture{.source = source, .target = {}, .weights = {}};
  picture.target = greedy(model, std::span(&source, 1), longest, kernels).front().ids;
  std::vector<Row> rows = {{.token = Alphabet::kBegin, .position = 0}};
  for (const TokenId id : picture.target) rows.push_back({.token = id, .position = static_cast<int>(rows.size())});
  picture.target.push_back(Alphabet::kEnd);
  AlignmentObserver observer(model.alignment_name(), static_cast<int64_t>(source.size()));
  Observer* const observers[] = {&observer};
  Arena arena;
  const Encoded encoded = model.encode(std::span(&source, 1), kernels, arena);
  const int source_of[] = {0};
  model.decode(encoded, rows, source_of, kernels, arena, observers);
  picture.weights = std::move(observer.weights);
  return picture;
}

}  // namespace orrery
