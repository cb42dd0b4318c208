// Units and FLOPs: equations with units, checked; a model's operations counted; one ruler from a multiply-add to Llama.
#include "base/clock.h"
#include "config/arithmetic.h"
#include "kernels/decorated_kernels.h"
#include "lesson.h"
#include "plot/bar_figure.h"
#include "units/formula.h"
#include "units/unit.h"

using namespace orrery;
using lesson::measured, lesson::print_row;

namespace {

// As a reader would write them down. N is 175e9 and D is 300e9 for GPT-3.
constexpr const char* kEquations[] = {
    "1 PF-day = 1 PFLOPS * 1 d",
    "1 PFLOPS = 1 PFLOP",
    "1 PFLOP = 1e12 kFLOP",
    "1 EFLOP = 1000 PFLOP = 1e18 FLOP",
    "1 PFLOPS = 千万亿 FLOP/s",
    "1 PFLOPS = 千亿 FLOP/s",
    "1 EFLOPS = 百亿亿 FLOP/s",
    "235e9 = 2350亿",
    "1e12 token = 1万亿 token = 1000 * 10亿 token",
    "400 Gbit/s = 400 GB/s",
    "400 Gbit/s = 50 GB/s",
    "80 GB = 80 GiB",
    "80 GB = 74.5 GiB",
    "175e9 * 2 B = 350 GB",
    "175e9 * 80 GB = 3.145e23 FLOP",
    "3640 PF-day = 3.145e23 FLOP = 6 FLOP/token * 175e9 * 300e9 token",
    "3.145e23 FLOP = 315000 EFLOP",
    "2 FLOP/token * 175e9 = 3.5e11 FLOP/token",
    "2 FLOP/token * 175e9 = 3.7e23 FLOP",
    "2 FLOP/token * 175e9 * 1 token = 3.7e23 FLOP",
    "3.7e23 FLOP / (1024 * 2000 TFLOPS) = 18 ms",
    "3.7e23 FLOP / (1024 * 2000 TFLOPS) = 2.09 d",
    "6 FLOP/token * 235e9 * 36e12 token = 4.75e24 FLOP",
    "6 FLOP/token * 22e9 * 36e12 token = 4.75e24 FLOP",
};
constexpr double kTolerance = 0.01;
constexpr double kSteps = 6000, kTokensPerStep = 4096;  // of models/storyteller.ini
constexpr int kStoryTokens = 230;                       // a usual story of that model

// "a = b = c": every side a formula.
std::vector<Quantity> sides(std::string_view equation) {
  std::vector<Quantity> result;
  for (size_t end = 0; end != std::string_view::npos; equation.remove_prefix(std::min(equation.size(), end + 1))) {
    end = equation.find('=');
    result.push_back(parse_quantity(equation.substr(0, end)));
  }
  return result;
}

// First the dimensions: only what is of one kind can be equal. Then the numbers.
void check(const char* equation) {
  try {
    const std::vector<Quantity> all = sides(equation);
    const Quantity& left = all[0];
    double ratio = 1;
    for (const Quantity& right : all) {
      if (left.dimension != right.dimension) refuse_mixture("cannot be equal", left.dimension, right.dimension);
      if (std::abs(left.value / right.value - 1) > kTolerance) ratio = left.value / right.value;
    }
    const double factor = std::max(ratio, 1 / ratio);
    const std::string times = factor < 1e6 ? significant(factor, 3) : scientific(factor, 3);
    std::printf(" %-8s %s", ratio == 1 ? "true" : "FALSE", equation);
    if (ratio != 1) std::printf("   (%s is %s times as much)", ratio > 1 ? "left" : "right", times.c_str());
    std::printf("\n");
  } catch (const Error& error) {
    std::printf(" %-8s %s\n          %s\n", "REFUSED", equation, error.parts().what.c_str());
    std::string hint = error.parts().hint;
    const size_t end = hint.size() > 88 ? hint.rfind(' ', 88) : hint.size();
    std::printf("          %s\n", hint.substr(0, end).c_str());
    if (end < hint.size()) std::printf("          %s\n", hint.substr(end + 1).c_str());
  }
}

// An amount, counted while the model computes; then the time, which the machine decides, and the rate.
double count_operations() {
  auto session = cli::open_session({}, true);
  const auto n = static_cast<double>(parameter_count(session->model->config()).total());
  std::vector<Row> rows;
  for (int i = 0; i < kStoryTokens; ++i) rows.push_back({i, i});  // which tokens makes no difference
  CountingKernels counting(*session->kernels);
  session->model->forward(rows, counting, session->arena);
  double seconds = 1e9;
  for (int i = 0; i < 5; ++i) {
    session->arena.reset();
    const double start = seconds_now();
    session->model->forward(rows, *session->kernels, session->arena);
    seconds = std::min(seconds, seconds_now() - start);
  }
  const auto counted = static_cast<double>(sum(counting.totals()).flops);
  std::printf("\nThe storyteller, N = %s, reads %d tokens\n", with_separators(int64_t(n)).c_str(), kStoryTokens);
  std::printf(" amount   2 N * %d = %s; counted %s\n", kStoryTokens,
              quantity_text({2 * n * kStoryTokens, dimension_of(BaseUnit::flop)}, 3).c_str(),
              quantity_text({counted, dimension_of(BaseUnit::flop)}, 3).c_str());
  std::printf(" time     %s ms\n rate     %s GFLOP/s\n\n", measured(1e3 * seconds, 1).c_str(),
              measured(counted / seconds / 1e9, 1).c_str());
  return n;
}

// From one multiply-add to the training of a large model, by 2N for a token read and 6ND for training.
void draw_ruler(double n, const std::string& path) {
  struct Mark {
    const char* name;
    double flop;
    bool is_ours = true;
  };
  const Mark marks[] = {
      {"one multiply-add", 2},
      {"storyteller: one token", 2 * n},
      {"storyteller: one story", 2 * n * kStoryTokens},
      {"storyteller: its training", 6 * n * kSteps * kTokensPerStep},
      {"GPT-3: one token", 2 * 175e9},
      {"GPT-3: 2,048 tokens", 2 * 175e9 * 2048},
      {"GPT-3: its training", 6 * 175e9 * 300e9},
      {"GPT-3: one pass (source)", 3.7e23, false},
      {"Qwen3-235B: its training", 6 * 22e9 * 36e12},
      {"Llama 3.1 405B: its training", 6 * 405e9 * 15.6e12},
  };
  BarFigure figure{.title = "How much computing?", .style = BarStyle::points};
  figure.values = {.label = "FLOP", .scale = Scale::logarithmic, .low = 1, .high = 1e26};
  figure.is_horizontal = true;
  figure.has_numbers = true;
  figure.series = {{.name = "computed again"}, {.name = "the source"}};
  print_row({-28, 12, 14}, {"", "FLOP", "at 1 PFLOP/s"});
  for (const Mark& mark : marks) {
    const Quantity amount{mark.flop, dimension_of(BaseUnit::flop)};
    print_row({-28, 12, 14},
              {mark.name, scientific(mark.flop, 3), quantity_text(amount / parse_quantity("1 PFLOP/s"), 3)});
    figure.names.push_back(mark.name);
    figure.series[0].values.push_back(mark.is_ours ? mark.flop : NAN);
    figure.series[1].values.push_back(mark.is_ours ? NAN : mark.flop);
  }
  if (!path.empty()) write_png(figure, path);
}

}  // namespace

int main(int argc, char** argv) {
  return lesson::run(argc, argv, [](const std::string& figure) {
    for (const char* equation : kEquations) check(equation);
    draw_ruler(count_operations(), figure);
    lesson::check_source("01");
  });
}
