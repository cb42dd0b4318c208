// The next word guessed in four ways: by rules, by counts, by features made by hand, and by features that are learned.
#include <array>

#include "learn/neighbours.h"
#include "learn/principal_components.h"
#include "learn/story_words.h"
#include "learn/word_counts.h"
#include "learn/word_rules.h"
#include "lesson.h"
#include "plot/bar_figure.h"
#include "plot/scatter.h"
#include "plot/sheet.h"

using namespace orrery;
using lesson::Matrix, lesson::print_row;

namespace {

constexpr int kBefore = 2, kFeatures = 16, kInputs = kBefore * kFeatures, kEpochs = 3;
// By hand: what comes after a word of a kind, and what a word can be like.
const char* const kRules[] = {
    "\\(start\\)|[.!?] -> [A-Z\"].*",  "named -> [A-Z].*",          "an -> [aeiou].*", "a -> [b-df-hj-np-tv-z].*",
    "the|his|her|my|to|'s -> [a-z].*", "in|on|at -> the|a|his|her", ", -> and|but|so", "[A-Z].* -> [a-z.,!?'].*"};
const char* const kByHand[kFeatures] = {
    "[A-Z].*",    "[.!?]",     "[,:;]",       "\"",           ".*ed",        ".*ing", ".*s",          ".*ly",
    "[a-z]{1,3}", "[aeiou].*", "an?|the|The", "s?he|they|it", "his|her|him", "'s",    "was|were|had", "in|on|at|to|of"};
const std::vector<std::string> kKinds = {"name", "animal", "colour", "thing"};  // lists of the story world
constexpr std::initializer_list<int> kWidths = {-18, 9, 9, 22, 10, 18};
using Predictor = std::function<double(const WordPair& pair)>;  // p(next | before)

// p = softmax(bias + weights * x) for all words, where x is the rows of the last words, side by side.
struct Layer {
  std::vector<std::array<float, kFeatures>> rows;   // [words]: made by hand, or learned: the embedding
  std::vector<std::array<float, kInputs>> weights;  // [words]
  std::vector<float> bias, p;                       // [words]
  std::array<float, kInputs> x, dx;

  explicit Layer(size_t words) : rows(words), weights(words), bias(words), p(words) {}
  float& input(const WordPair& pair, int i) { return rows[pair.before.rbegin()[i / kFeatures]][i % kFeatures]; }

  double forward(const WordPair& pair) {
    float sum = 0;
    for (int i = 0; i < kInputs; ++i) x[i] = input(pair, i);
    for (size_t o = 0; o < p.size(); ++o) {
      float logit = bias[o];
#pragma omp simd reduction(+ : logit)
      for (int i = 0; i < kInputs; ++i) logit += weights[o][i] * x[i];
      sum += p[o] = std::exp(logit);
    }
    for (float& share : p) share /= sum;
    return p[pair.next];
  }

  // One step against the gradient of -log p(next).
  void learn(const WordPair& pair, float rate, bool learns_rows) {
    forward(pair), dx = {};
    for (size_t o = 0; o < p.size(); ++o) {
      const float dlogit = p[o] - (static_cast<int>(o) == pair.next ? 1 : 0);
      if (std::abs(dlogit) < 1e-5f) continue;  // would move next to nothing
#pragma omp simd
      for (int i = 0; i < kInputs; ++i) {
        dx[i] += dlogit * weights[o][i];
        weights[o][i] -= rate * dlogit * x[i];
      }
      bias[o] -= rate * dlogit;
    }
    for (int i = 0; learns_rows && i < kInputs; ++i) input(pair, i) -= rate * dx[i];
  }

  void train(const WordPairs& text, bool learns_rows) {
    Random random(1);
    for (int i = 0; i < kFeatures; ++i) {
      const std::vector<bool> fits = fitting(text.vocabulary, kByHand[i]);
      for (size_t w = 0; w < rows.size(); ++w) rows[w][i] = learns_rows ? 0.3 * random.normal() : fits[w];
    }
    const size_t n = text.training.size(), steps = kEpochs * n;
    for (size_t i = 0; i < steps; ++i) learn(text.training[i % n], 0.2 * (1 - double(i) / double(steps)), learns_rows);
  }
};

// A line and a bar for each way to guess: what was made by hand and what learned for it, and how well it guesses.
struct Comparison {
  const WordPairs& text;
  std::vector<WordPair> fresh = {};  // those held out behind two words that never stood side by side in training
  BarFigure bars = {.title = "Perplexity, held out", .series = {{}}, .is_horizontal = true, .has_numbers = true};
  void add(const std::string& name, size_t by_hand, size_t learned, bool is_measured, const Predictor& p) {
    const auto shown = [&](double value) { return (is_measured ? "~" : "") + fixed(value, 2); };
    bars.names.push_back(name), bars.series[0].values.push_back(perplexity(text.held_out, p));
    print_row(kWidths, {name, std::to_string(by_hand), with_separators(learned), shown(perplexity(text.training, p)),
                        shown(bars.series[0].values.back()), shown(perplexity(fresh, p))});
  }
};

// Where the learned rows of words lie that are of a kind; of kinds no way was told.
LineFigure map_of(const WordPairs& text, const Layer& by_hand, const Layer& learned) {
  const WordKinds words = word_kinds(text, Language::english, kKinds);
  Matrix rows[2];
  Scatter scatter = {.title = "Learned rows: two directions of 16", .kinds = kKinds, .kind_of = words.kinds};
  for (const int id : words.ids) {
    rows[0].emplace_back(by_hand.rows[id].begin(), by_hand.rows[id].end());
    rows[1].emplace_back(learned.rows[id].begin(), learned.rows[id].end());
    scatter.names.push_back(scatter.names.size() % 7 == 2 ? text.vocabulary[id] : "");
  }
  std::printf("Of %zu words of %zu kinds, the nearest row is of the same kind: %.1f%% by hand, ~%.1f%% learned\n",
              words.ids.size(), kKinds.size(), 100 * same_kind_share(rows[0], words.kinds),
              100 * same_kind_share(rows[1], words.kinds));
  scatter.places = principal_components(rows[1], 2).coordinates;
  return figure_of(scatter);
}

void teach(const std::string& path) {
  const auto [text, bytes, lowest] = story_words({.n_before = 4, .seed = 4});
  const size_t n = text.vocabulary.size(), head = n * (kInputs + 1);
  const WordCounts counts(text.training, n);
  const WordRules rules(kRules, text.vocabulary, 0.9);
  Layer by_hand(n), learned(n);
  Threads().parallel_for(2, 1, [&](int64_t i, int64_t) { (i == 0 ? by_hand : learned).train(text, i == 1); });
  std::printf("%zu words. %zu bytes of stories give %zu pairs:\n", n, bytes, text.training.size());
  for (const auto& [before, next] : std::span(text.training).first(4)) {
    print_row({9, 9, 0}, {text.vocabulary[before[2]], text.vocabulary[before[3]], "-> " + text.vocabulary[next]});
  }
  const auto [applies, right] = rules.coverage(text.held_out);
  std::printf("%zu more are held out. Rules apply to %.1f%% of them and are right about %.1f%% of these.\n\n",
              text.held_out.size(), 100 * applies, 100 * right);
  Comparison table{text};
  std::ranges::copy_if(text.held_out, std::back_inserter(table.fresh), [&](auto& x) { return !counts.knows(x, 2); });
  print_row(kWidths, {"", "by hand", "learned", "perplexity: training", "held out", "behind new pairs"});
  table.add("all words alike", 0, 0, false, [&](auto& x) { return counts.p(x, 0); });
  table.add("rules", std::size(kRules), 0, false, [&](auto& x) { return rules.p(x); });
  for (size_t i = 1; i <= 5; ++i)
    table.add("counts, n = " + std::to_string(i), 0, counts.up_to(i), false, [&](auto& x) { return counts.p(x, i); });
  table.add("features by hand", kFeatures, head, true, [&](auto& x) { return by_hand.forward(x); });
  table.add("features learned", 0, head + n * kFeatures, true, [&](auto& x) { return learned.forward(x); });
  std::printf(" lowest possible %56.2f\n\n", lowest);
  std::array<float, kFeatures> product = {};  // of a vector that is 1 at word 100, else 0, and the table
  for (size_t w = 0; w < n; ++w) {
    for (int i = 0; i < kFeatures; ++i) product[i] += float(w == 100) * learned.rows[w][i];
  }
  std::printf("The table: %zu rows of %d numbers, %zu bytes. One-hot times table: %s\n", n, kFeatures,
              n * sizeof product, product == learned.rows[100] ? "the row." : "WRONG.");
  const LineFigure map = map_of(text, by_hand, learned);
  table.bars.values = {.scale = Scale::logarithmic, .low = 1}, table.bars.levels = {{"lowest possible", lowest}};
  const Lettering letters = Lettering::of_system();
  if (!path.empty()) write_png(one_below_the_other({drawn(table.bars, letters), drawn(map, letters)}), path);
  lesson::check_source("04");
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
