// Recurrent networks: three cells by hand, what they cost, what threads do for them, how fast they forget, and a gate.
#include <cmath>

#include "inspect/recorder.h"
#include "kernels/fast/fast_kernels.h"
#include "learn/name_recall.h"
#include "learn/recurrent_initialization.h"
#include "learn/state_gradient.h"
#include "lesson.h"
#include "measure/forward_time.h"
#include "plot/line_figure.h"
#include "plot/sheet.h"
#include "recurrent/recurrent_layer.h"

using namespace orrery;
using lesson::measured, lesson::print_row;
using enum Architecture;
using Vector = std::vector<double>;

namespace {
int64_t operations = 0;  // of products; a multiplication and an addition are two

// One step: x and the state h (an LSTM's c, too) in, the new state out. RecurrentKernels has the order of gates.
void step_by_hand(Architecture cell, const RecurrentWeights& w, const float* x, Vector& h, Vector& c) {
  const size_t d = h.size();
  const Vector before = h;
  for (size_t unit = 0; unit < d; ++unit) {
    const auto product = [&](const Tensor& matrix, const Tensor& bias, size_t row, const auto& v) {
      double sum = values<float>(bias)[row];
      for (size_t j = 0; j < d; ++j) sum += double{values<float>(matrix)[row * d + j]} * v[j];
      operations += 2 * static_cast<int64_t>(d);
      return sum;
    };
    const auto from_x = [&](size_t gate) { return product(w.input, w.input_bias, gate * d + unit, x); };
    const auto from_h = [&](size_t gate) { return product(w.hidden, w.hidden_bias, gate * d + unit, before); };
    const auto sum = [&](size_t gate) { return from_x(gate) + from_h(gate); };
    const auto s = [](double a) { return 1 / (1 + std::exp(-a)); };
    if (cell == rnn) h[unit] = std::tanh(sum(0));
    if (cell == lstm) {
      const double i = s(sum(0)), f = s(sum(1)), g = std::tanh(sum(2)), o = s(sum(3));
      c[unit] = f * c[unit] + i * g;
      h[unit] = o * std::tanh(c[unit]);
    }
    if (cell == gru) {
      const double r = s(sum(0)), z = s(sum(1)), n = std::tanh(from_x(2) + r * from_h(2));
      h[unit] = (1 - z) * n + z * before[unit];
    }
  }
}

void check_by_hand(const Learner& learner, Architecture cell) {
  const Tensor x = learner.parameters.named("token_embd.weight").weight;  // [3, d]
  const RecurrentWeights weights = recurrent_weights(learner.parameters, 0);
  const std::vector<Row> rows(3);
  Arena arena;
  const RecurrentPass pass{rows, *learner.forward, arena, {}, {{0, 3}}};
  const lesson::Matrix states = lesson::columns(recurrent_layer(pass, cell, 0, weights, {}, x).hidden, 0, x.shape[1]);
  Vector h(states[0].size()), c(h.size());
  operations = 0;
  for (size_t t = 0; t < 3; ++t) {
    step_by_hand(cell, weights, values<float>(x) + t * h.size(), h, c);
    if (lesson::difference(h, states[t]) > 1e-5) throw Error({.what = "by hand the state is another"});
  }
}

LineFigure compare_costs() {
  constexpr int64_t d = 256, kSquare = d * d;
  LineFigure figure{"Time to read one text", {"tokens", Scale::logarithmic}, {"ms, one thread", Scale::logarithmic}};
  const auto widths = {-12, 9, 9, 11, 11, 9, 7, 9, 7};
  std::printf("%31s %23s %17s %17s\n", "parameters", "FLOPs for a token", "512 tokens, ms", "16 x 32, ms");
  print_row(widths, {"width 256", "formula", "counted", "formula", "counted", "1 thread", "2", "1 thread", "2"});
  for (const auto& [name, cell, gates] :
       {std::tuple{"RNN", rnn, 1}, {"LSTM", lstm, 4}, {"GRU", gru, 3}, {"Transformer", transformer, 0}}) {
    const bool is_recurrent = cell != transformer;
    Learner learner(is_recurrent ? recurrent_config({cell, 1, d, 3}) : llama_config({1, d, 4, 3, 2048, 4, 352}),
                    DType::F32, Threads(1));
    const int64_t parameters = learner.parameters.count() - 3 * d - (is_recurrent ? 3 * d + 3 : d);  // without the ends
    if (is_recurrent) check_by_hand(learner, cell);
    const auto text = [&](int64_t number) { return is_recurrent ? with_separators(number) : "-"; };
    FastKernels one{Threads(1)}, two{Threads(2)};
    const auto ms = [&](int n, int each, Kernels& on) {
      return 1e3 * shortest_forward(*learner.model, on, n, each, 10);
    };
    print_row(widths, {name, text(gates * 2 * (kSquare + d)), with_separators(parameters), text(gates * 4 * kSquare),
                       text(operations / 3), measured(ms(1, 512, one), 1), measured(ms(1, 512, two), 1),
                       measured(ms(16, 32, one), 1), measured(ms(16, 32, two), 1)});
    Series& line = figure.series.emplace_back(Series{.name = name, .style = Style::line_and_points});
    for (int n = 64; n <= 2048; n *= 2) line.x.push_back(n), line.y.push_back(ms(1, n, one));
  }
  std::printf(" Three steps by hand, each cell: the model's states within 0.00001\n");
  return figure;
}

LineFigure compare_memories() {
  LineFigure figure{"What is left of the first state", {"tokens later"}, {"length of dh_T/dh_0", Scale::logarithmic}};
  const auto widths = {-16, 9, 9, 9, 9, 9, 11};
  std::printf("\n log10 of the length of dh_T/dh_0\n");
  print_row(widths, {"width 32", "T = 1", "4", "16", "32", "64", "per step"});
  constexpr std::tuple<const char*, Architecture, bool, int> kStarts[] = {
      {"RNN", rnn, false, 0},   {"RNN, orthogonal", rnn, true, 0}, {"GRU", gru, false, 0},
      {"LSTM", lstm, false, 0}, {"LSTM, bias 1", lstm, false, 1},  {"LSTM, bias 3", lstm, false, 3}};
  for (const auto& [name, cell, orthogonal, bias] : kStarts) {
    Learner learner(recurrent_config({cell, 1, 32, 64}), DType::F64, Threads());
    initialize_recurrent(learner.parameters, learner.config, 12, {orthogonal, double(bias)});
    const Tensor x = learner.parameters.named("token_embd.weight").weight;  // 64 random rows
    Series& all = figure.series.emplace_back(Series{.name = name, .x = {0}, .y = {1}});
    for (int n = 1; n < 65; ++n) all.x.push_back(n), all.y.push_back(state_gradient_norm(learner, slice_rows(x, 0, n)));
    const auto at = [&](size_t n) { return fixed(std::log10(all.y[n]), 1); };
    print_row(widths, {name, at(1), at(4), at(16), at(32), at(64), fixed(std::pow(all.y[64] / all.y[4], 1 / 60.0), 2)});
  }
  return figure;
}

// A trained LSTM reads a sentence with two names. What does the unit do that tells the names apart best?
void watch_a_gate() {
  Learner learner(recurrent_config({lstm, 1, 32, static_cast<int>(recall_words().size())}), DType::F32, Threads());
  const double loss = learn_recall(learner, 500, 1e-2, 12);
  const std::vector<Row> rows = recall_rows(2, 12, 1);
  Recorder seen([](std::string_view) { return true; });
  Observer* const observers[] = {&seen};
  Arena arena;
  learner.model->forward(rows, *learner.forward, arena, observers);
  const size_t n = rows.size() / 2;
  const auto at = [&](std::string name, size_t row, size_t i) { return values<float>(seen[name])[row * 32 + i]; };
  const auto apart = [&](size_t i) { return std::abs(at("lstm.0.cell", n - 2, i) - at("lstm.0.cell", 2 * n - 2, i)); };
  size_t best = 0;
  for (size_t unit = 1; unit < 32; ++unit) best = apart(unit) > apart(best) ? unit : best;
  const auto widths = {-10, 8, 8, 8, 8, 8};
  std::printf("\n A unit of a trained LSTM (loss %s; who forgot the name has 1.386)\n", measured(loss, 3).c_str());
  print_row(widths, {"word", "input", "forget", "output", "c, Tom", "c, Ann"});
  for (size_t i = 0; i < n; ++i) {
    const auto number = [&](const char* part, size_t row) {
      return measured(at(std::string("lstm.0.") + part, row, best), 2);
    };
    print_row(widths, {i == 1 ? "Tom / Ann" : recall_words()[size_t(rows[i].token)], number("input", i),
                       number("forget", i), number("output", i), number("cell", i), number("cell", n + i)});
  }
}

void teach(const std::string& path) {
  const LineFigure times = compare_costs(), memories = compare_memories();
  watch_a_gate();
  lesson::check_source("12");
  const Lettering letters = Lettering::of_system();
  if (!path.empty()) write_png(one_below_the_other({drawn(memories, letters), drawn(times, letters)}), path);
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
