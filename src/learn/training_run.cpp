#include "learn/training_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/clock.h"
#include "base/output_file.h"
#include "config/arithmetic.h"
#include "files/gguf_writer.h"

namespace orrery {
namespace {

// Sums in which every step counts a little less than the one after it.
struct RunningMeans {
  double steps = 0, loss = 0, tokens = 0, seconds = 0, flops = 0;

  void add(const StepReport& report, double spent, double operations) {
    constexpr double kKept = 0.98;  // so about the last 50 steps count
    steps = kKept * steps + 1;
    loss = kKept * loss + report.loss;
    tokens = kKept * tokens + static_cast<double>(report.tokens);
    seconds = kKept * seconds + spent;
    flops = kKept * flops + operations;
  }
};

// The curve so far: all losses of training pale, their mean, and what validation found.
LineFigure loss_figure(const std::vector<LogLine>& history, const std::string& title, double floor) {
  Series training{.name = "training", .style = Style::noisy};
  Series validation{.name = "validation", .style = Style::line_and_points};
  for (const LogLine& line : history) {
    training.x.push_back(static_cast<double>(line.step));
    training.y.push_back(line.loss);
    if (std::isnan(line.validation_loss)) continue;
    validation.x.push_back(static_cast<double>(line.step));
    validation.y.push_back(line.validation_loss);
  }
  LineFigure figure{.title = title, .x = {.label = "step"}, .y = {.label = "loss, nats per token"}};
  figure.series.push_back(std::move(training));
  if (!validation.x.empty()) figure.series.push_back(std::move(validation));
  if (floor > 0) figure.levels.push_back({"lowest possible loss", floor});
  // Where the loss falls to a small part of what it was, the end would lie flat on a linear axis.
  const auto [least, most] = std::ranges::minmax_element(history, {}, &LogLine::loss);
  if (!history.empty() && most->loss > 10 * least->loss) figure.y.scale = Scale::logarithmic;
  return figure;
}

}  // namespace

RunFiles run_files(const std::string& output) {
  std::filesystem::path stem(output);
  if (stem.extension() == ".gguf") stem.replace_extension();
  return {output, stem.string() + ".state.gguf", stem.string() + ".csv", stem.string() + ".png"};
}

TrainingRun::TrainingRun(Trainer& trainer, const Checkpoint& checkpoint, const TokenData* validation,
                         const RunSettings& settings)
    : trainer_(trainer), checkpoint_(checkpoint), settings_(settings), files_(run_files(settings.output)) {
  for (const std::string& path : {files_.model, files_.state, files_.log, files_.figure}) remove_leftovers(path);
  if (validation != nullptr) validation_ = validation->pieces(trainer.settings().context, settings.validation_tokens);
}

void TrainingRun::resume() {
  trainer_.resume(files_.state);
  history_ = read_log(files_.log, trainer_.steps_taken());
  for (const LogLine& line : history_) {
    if (std::isnan(line.validation_loss) || line.validation_loss >= result_.validation_loss) continue;
    result_.validation_loss = line.validation_loss;
    result_.best_step = line.step;
  }
}

LineFigure TrainingRun::figure() const {
  return loss_figure(history_, "Loss of " + checkpoint_.config.name, settings_.floor);
}

double TrainingRun::operations(const StepReport& report) const {
  return static_cast<double>(report.tokens) * training_flops_per_token(checkpoint_.config, report.mean_length);
}

RunResult TrainingRun::run(const std::function<void(const RunReport&)>& on_report,
                           const std::function<bool()>& goes_on) {
  const int64_t all = trainer_.settings().steps;
  RunningMeans means;
  while (trainer_.steps_taken() < all) {
    RunReport report;
    if (goes_on && !goes_on()) {
      if (!history_.empty()) validate_and_save(report);
      return result_;
    }
    const double start = seconds_now();
    report.step = trainer_.step();
    const double seconds = seconds_now() - start;
    history_.push_back({.step = report.step.step,
                        .tokens = report.step.tokens,
                        .loss = report.step.loss,
                        .rate = report.step.rate,
                        .gradient_norm = report.step.gradient_norm,
                        .seconds = seconds});
    means.add(report.step, seconds, operations(report.step));
    report.mean_loss = means.loss / means.steps;
    report.tokens_per_second = means.tokens / means.seconds;
    if (settings_.peak_flops > 0) report.utilization = means.flops / means.seconds / settings_.peak_flops;
    report.seconds_left = static_cast<double>(all - report.step.step) * means.seconds / means.steps;
    report.epochs = trainer_.epochs();
    if (report.step.step % settings_.save_every == 0 || report.step.step == all) validate_and_save(report);
    on_report(report);
  }
  result_.is_finished = true;
  return result_;
}

// The state comes last: whatever happens before, it goes with what lies beside it.
void TrainingRun::validate_and_save(RunReport& report) {
  LogLine& line = history_.back();
  if (!validation_.empty()) line.validation_loss = trainer_.loss(validation_);
  report.validation_loss = line.validation_loss;
  if (validation_.empty() || !(line.validation_loss >= result_.validation_loss)) {
    write_model(line.step, line.validation_loss);
  }
  write_png(figure(), files_.figure);
  write_log(files_.log, history_);
  trainer_.save(files_.state, checkpoint_);
  report.is_saved = true;
}

void TrainingRun::write_model(int64_t step, double validation_loss) {
  const DType type = settings_.type;
  write_gguf(files_.model, checkpoint_, {.type_of = [type](const std::string&, const Tensor&) { return type; }});
  result_.best_step = step;
  result_.validation_loss = validation_loss;
}

}  // namespace orrery
