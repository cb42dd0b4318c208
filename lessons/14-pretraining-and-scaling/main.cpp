// Pre-training: the way back checked and done by hand, five models trained, loss against compute, and a question.
#include <cmath>

#include "base/clock.h"
#include "cli/session.h"
#include "generate/generate.h"
#include "inspect/recorder.h"
#include "learn/learner.h"
#include "learn/power_law.h"
#include "learn/story_data.h"
#include "learn/trainer.h"
#include "lesson.h"
#include "measure/machine_limits.h"
#include "plot/line_figure.h"

using namespace orrery;
using lesson::measured, lesson::print_row;

namespace {

const std::vector<TokenId> kIds = {20, 7, 31, 20, 5, 12, 20, 39, 1, 0, 16, 3};
constexpr const char* kQuestion = "What should Anna take along when it rains?";
const Sample kText[] = {{kIds}};
const double kGuesses = total_weight(kText);
constexpr int kSizes[][3] = {{2, 16, 100}, {2, 32, 150}, {2, 48, 240}, {3, 64, 360}, {3, 80, 420}};  // with steps

// Moves one weight of each kind a little, both ways: the slope of the loss is the gradient that the tape has found.
void check_gradients(const Parameters& parameters, GradientMaker& maker) {
  const auto widths = {-27, 12, 12, 16};
  print_row(widths, {"d(loss) / d(one weight)", "the tape", "difference", "agreement"});
  for (const Parameter& parameter : parameters.all()) {
    if (std::string_view(parameter.weight.name).starts_with("blk.1.")) continue;
    const int64_t middle = n_elements(parameter.weight) / 2;
    double& weight = values<double>(parameter.weight)[middle];
    const double before = weight, step = 1e-4, gradient = values<double>(parameter.gradient)[middle];
    const auto loss_at = [&](double moved) { return weight = moved, maker.loss(kText, kGuesses); };
    const double slope = (loss_at(before + step) - loss_at(before - step)) / (2 * step);
    weight = before;
    const bool is_right = std::abs(slope - gradient) <= 1e-4 * std::abs(gradient);
    print_row(widths, {parameter.weight.name, fixed(gradient, 7), fixed(slope, 7), is_right ? "within 1e-4" : "WRONG"});
  }
}

// The way back of the last matrix and of the loss: logits = x * w^T, loss = mean of -log softmax(logits)[target].
void walk_back_by_hand(const Recorder& seen, const Parameter& head) {
  const int64_t n = seen["final_norm"].shape[0], d = head.weight.shape[1], vocab = head.weight.shape[0];
  const double *x = values<double>(seen["final_norm"]), *w = values<double>(head.weight);
  std::vector<double> dx(size_t(n * d)), dw(size_t(vocab * d));
  for (int64_t i = 0; i < n; ++i) {
    const double* logits = values<double>(seen["logits"]) + i * vocab;
    double sum = 0;
    for (int64_t o = 0; o < vocab; ++o) sum += std::exp(logits[o]);
    for (int64_t o = 0; o < vocab; ++o) {
      const double dlogit = (std::exp(logits[o]) / sum - (o == kIds[size_t(i) + 1] ? 1 : 0)) / double(n);
      for (int64_t j = 0; j < d; ++j) {
        dx[size_t(i * d + j)] += dlogit * w[o * d + j];
        dw[size_t(o * d + j)] += dlogit * x[i * d + j];
      }
    }
  }
  double largest = 0;
  const auto compare = [&](const std::vector<double>& mine, const Tensor& tape) {
    for (size_t i = 0; i < mine.size(); ++i) largest = std::max(largest, std::abs(mine[i] - values<double>(tape)[i]));
  };
  compare(dx, seen["final_norm.grad"]), compare(dw, head.gradient);
  std::printf(" Head and loss by hand: %s\n", largest < 1e-9 ? "equal within 1e-9" : "WRONG");
}

void look_at_gradients() {
  ModelConfig config = llama_config({2, 16, 2, 40, 16});  // blocks, width, heads, vocabulary, context
  config.tied_head = false;                               // so that the head's gradient is its own
  Learner tiny(config, DType::F64, Threads(1));
  GradientMaker maker(*tiny.model, *tiny.forward, *tiny.backward, tiny.parameters);
  Recorder seen(std::vector<std::string>{"final_norm", "logits", "final_norm.grad"});  // there, and on the way back
  Observer* const observers[] = {&seen};
  const double loss = maker.add_gradients(kText, kGuesses, observers, observers);
  std::printf("An untrained model guesses among 40 tokens: loss %.4f, log(40) is %.4f\n", loss, std::log(40.0));
  check_gradients(tiny.parameters, maker);
  walk_back_by_hand(seen, tiny.parameters.named("output.weight"));
}

struct Run {
  double parameters = 0, tokens = 0, seconds = 0, above = 0;  // above the lowest loss, on stories held out
  Series curve;                                               // the same in training, against operations
};

Run pretrain(const StoryData& stories, int n_layers, int d_model, int64_t steps) {
  Learner learner(llama_config({n_layers, d_model, d_model / 16, 512, 512}), DType::F32, Threads());
  Trainer trainer(*learner.model, *learner.forward, *learner.backward, learner.parameters, *stories.training,
                  {.steps = steps, .context = 512, .tokens_per_step = 1024, .rate = 5e-3, .warmup_steps = 20});
  Run run{.parameters = static_cast<double>(learner.parameters.count()), .seconds = -seconds_now()};
  while (trainer.steps_taken() < steps) {
    const StepReport report = trainer.step();  // a batch: forward, backward, update
    run.tokens += static_cast<double>(report.tokens);
    run.curve.x.push_back(6 * run.parameters * run.tokens);
    run.curve.y.push_back(report.loss - stories.floor);
  }
  run.seconds += seconds_now();
  run.above = trainer.loss(stories.held_out->pieces(512)) - stories.floor;
  run.curve.name = std::to_string(n_layers) + " x " + std::to_string(d_model);
  return run;
}

void scale_up(const std::string& path) {
  const StoryData stories({.seed = 14});
  const double peak = LimitMeter(1 << 20).measure(Threads()).flops_per_second;
  std::printf("\nThe lowest loss that is possible on the stories held out: %.4f nats a token\n", stories.floor);
  const auto widths = {-15, 8, 9, 10, 10, 6, 8, 8};
  print_row(widths, {"blocks x width", "N", "D", "6ND", "tokens/s", "MFU", "loss", "above"});
  LineFigure figure{.title = "Loss against compute, five models"};
  figure.x = {.label = "operations, 6ND", .scale = Scale::logarithmic};
  figure.y = {.label = "nats above the lowest loss", .scale = Scale::logarithmic};
  std::vector<double> c, above;
  for (const auto& [n_layers, d_model, steps] : kSizes) {
    const Run run = pretrain(stories, n_layers, d_model, steps);
    c.push_back(run.curve.x.back()), above.push_back(run.above);
    print_row(widths, {run.curve.name, scaled(run.parameters), scaled(run.tokens), scaled(c.back()),
                       measured(run.tokens / run.seconds, 0), measured(100 * c.back() / run.seconds / peak, 0) + "%",
                       measured(run.above + stories.floor, 3), measured(run.above, 3)});
    figure.series.push_back(smoothed(run.curve, 15));
  }
  const PowerLaw law = fit_power_law(std::span(c).first(4), std::span(above).first(4));
  std::printf(" By the first four, above = %s * C^%s: %s for the fifth. C doubled: %s%% less\n",
              measured(law.scale, 1).c_str(), measured(law.exponent, 3).c_str(), measured(law.at(c[4]), 3).c_str(),
              measured(100 * (1 - std::pow(2, law.exponent)), 1).c_str());
  std::printf(" Kaplan et al. (2020), on text from the web: C^-0.050, N^-0.076, D^-0.095\n");
  figure.series.push_back({.name = "fit", .x = c, .style = Style::dashed});
  for (const double x : c) figure.series.back().y.push_back(law.at(x));
  figure.series.push_back({.name = "held out", .x = c, .y = above, .style = Style::points});
  if (!path.empty()) write_png(figure, path);
}

void ask_a_question() {
  const auto session = cli::open_session({}, true);
  Sampler sampler({.temperature = 0}, 1);
  const Generation answer = generate(*session->model, session->tokenizer->encode(kQuestion), sampler, *session->kernels,
                                     session->arena, {.max_tokens = 24}, [](TokenId) { return true; });
  std::printf("\n%s|%s ...\n", kQuestion, session->tokenizer->decode(answer.ids).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  return lesson::run(argc, argv, [](const std::string& figure) {
    look_at_gradients();
    scale_up(figure);
    ask_a_question();
    lesson::check_source("14");
  });
}
