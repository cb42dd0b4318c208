#include "compare/pupil.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "learn/optimizer.h"

namespace orrery {
namespace {

constexpr double kWarmUp = 0.05, kLowest = 0.1;
constexpr int kTrialPoints = 4;  // a trial's loss is the mean over its last quarter

double rate_at(double highest, double share) {
  if (share < kWarmUp) return highest * std::max(share / kWarmUp, 0.02);
  return cosine_rate(highest, kLowest * highest, (share - kWarmUp) / (1 - kWarmUp));
}

}  // namespace

bool Budget::is_spent(double used_seconds, int64_t used_tokens) const {
  return (seconds > 0 && used_seconds >= seconds) || (tokens > 0 && used_tokens >= tokens);
}

double Budget::share(double used_seconds, int64_t used_tokens) const {
  const double of_time = seconds > 0 ? used_seconds / seconds : 0;
  const double of_tokens = tokens > 0 ? static_cast<double>(used_tokens) / static_cast<double>(tokens) : 0;
  return std::min(1.0, std::max(of_time, of_tokens));
}

SchoolCurve teach(Pupil& pupil, const Schooling& schooling, const Budget& budget, const GoesOn& goes_on) {
  AdamW optimizer(pupil.parameters(), {.weight_decay = schooling.weight_decay});
  SchoolCurve curve;
  double loss_sum = 0;
  int losses = 0;
  while (!budget.is_spent(curve.all_seconds, curve.all_tokens)) {
    const double before = budget.share(curve.all_seconds, curve.all_tokens), start = seconds_now();
    pupil.parameters().clear_gradients(pupil.backward_kernels());
    const Pupil::Batch batch = pupil.add_gradients();
    const double norm = pupil.parameters().clip_gradients(pupil.backward_kernels(), schooling.clip);
    // One batch whose gradient overflows is left out; a model that is lost shows it by its loss.
    if (std::isfinite(norm))
      optimizer.step(pupil.parameters(), pupil.backward_kernels(), rate_at(schooling.rate, before));
    curve.all_seconds += seconds_now() - start;
    curve.all_tokens += batch.tokens;
    ++curve.steps;
    loss_sum += batch.loss;
    ++losses;
    const double after = budget.share(curve.all_seconds, curve.all_tokens);
    if (std::floor(after * schooling.points) > std::floor(before * schooling.points) || after >= 1) {
      curve.tokens.push_back(static_cast<double>(curve.all_tokens));
      curve.seconds.push_back(curve.all_seconds);
      curve.training_loss.push_back(loss_sum / losses);
      curve.judged.push_back(pupil.judge());
      loss_sum = losses = 0;
    }
    if (goes_on && !goes_on(after)) return curve;
  }
  curve.is_finished = true;
  return curve;
}

namespace {

// Does not judge: that would take more time than the trial.
class Trial : public Pupil {
 public:
  explicit Trial(Pupil& pupil) : pupil_(pupil) {}
  Parameters& parameters() override { return pupil_.parameters(); }
  BackwardKernels& backward_kernels() override { return pupil_.backward_kernels(); }
  Batch add_gradients() override { return pupil_.add_gradients(); }
  double judge() override { return 0; }

 private:
  Pupil& pupil_;
};

}  // namespace

RateChoice choose_rate(const std::function<std::unique_ptr<Pupil>()>& make, std::span<const double> rates,
                       const Schooling& schooling, double seconds, const GoesOn& goes_on) {
  RateChoice choice;
  double least = std::numeric_limits<double>::infinity(), tokens = 0, spent = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    const std::unique_ptr<Pupil> pupil = make();
    Trial trial(*pupil);
    Schooling with = schooling;
    with.rate = rates[i];
    with.points = kTrialPoints;
    const auto n = static_cast<double>(rates.size());
    const SchoolCurve curve = teach(trial, with, {.seconds = seconds / n, .tokens = 0}, [&](double share) {
      return !goes_on || goes_on((static_cast<double>(i) + share) / n);
    });
    if (!curve.is_finished) return choice;
    tokens += static_cast<double>(curve.all_tokens);
    spent += curve.all_seconds;
    choice.losses.push_back(curve.training_loss.back());
    if (!(curve.training_loss.back() < least)) continue;
    least = curve.training_loss.back();
    choice.rate = rates[i];
  }
  if (choice.rate == 0) choice.rate = *std::min_element(rates.begin(), rates.end());  // none of them learned
  choice.tokens_per_second = spent > 0 ? tokens / spent : 0;
  choice.is_finished = true;
  return choice;
}

}  // namespace orrery
