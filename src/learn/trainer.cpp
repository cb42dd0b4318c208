#include "learn/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/format.h"
#include "learn/training_state.h"

namespace orrery {
namespace {

std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters, const TrainingSettings& settings) {
  if (settings.optimizer == OptimizerKind::sgd) {
    const SgdSettings sgd{.momentum = settings.momentum, .weight_decay = settings.weight_decay};
    return std::make_unique<Sgd>(parameters, sgd);
  }
  const AdamWSettings adamw{.beta1 = settings.beta1, .beta2 = settings.beta2, .weight_decay = settings.weight_decay};
  if (settings.optimizer == OptimizerKind::muon) {
    return std::make_unique<Muon>(parameters, MuonSettings{.momentum = settings.momentum, .others = adamw});
  }
  return std::make_unique<AdamW>(parameters, adamw);
}

int64_t guesses(const Sample& sample) { return static_cast<int64_t>(sample.tokens.size()) - 1; }

// Calls with stretches of samples that have at most `most` guesses together, or of one sample that has more.
template <class Use>
void in_calls(std::span<const Sample> samples, int64_t most, const Use& use) {
  size_t begin = 0;
  while (begin < samples.size()) {
    size_t end = begin + 1;
    int64_t sum = guesses(samples[begin]);
    while (end < samples.size() && sum + guesses(samples[end]) <= most) sum += guesses(samples[end++]);
    use(samples.subspan(begin, end - begin));
    begin = end;
  }
}

// Stops at the first tensor with a value that is not finite, in the order in which tensors come to be.
class FiniteCheck : public Observer {
 public:
  FiniteCheck(Kernels& kernels, std::string what) : kernels_(kernels), what_(std::move(what)) {}
  bool wants(const Probe& probe) const override {
    return !probe.name.ends_with(".scores") && !probe.name.ends_with("attn.weights");
  }
  void on_tensor(const Probe&, Tensor& tensor) override { check(tensor); }

  void check(const Tensor& tensor) {
    const int64_t place = kernels_.first_non_finite(tensor);
    if (place < 0) return;
    throw Error({.what = what_,
                 .where = std::string("tensor ") + tensor.name + ", element " + std::to_string(place),
                 .expected = "finite numbers",
                 .hint = "a smaller learning rate, a longer warm-up or clipping helps; the last saved state is whole"});
  }

 private:
  Kernels& kernels_;
  std::string what_;
};

}  // namespace

void check(const TrainingSettings& settings) {
  const auto require = [](bool holds, const char* name, const char* expected, const std::string& found) {
    if (!holds) {
      throw Error({.what = "this setting makes no sense", .where = name, .expected = expected, .found = found});
    }
  };
  const auto count = [&](const char* name, int64_t value) {
    require(value >= 1, name, "at least 1", std::to_string(value));
  };
  const auto number = [&](const char* name, double value, double end) {
    require(value >= 0 && value < end, name, std::isinf(end) ? "a number from 0" : "0 up to, but not, 1",
            std::to_string(value));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  count("steps", settings.steps);
  count("context", settings.context);
  count("tokens per step", settings.tokens_per_step);
  count("tokens per call", settings.tokens_per_call);
  require(settings.warmup_steps >= 0, "warm-up", "at least 0", std::to_string(settings.warmup_steps));
  number("learning rate", settings.rate, infinity);
  number("lowest learning rate", settings.lowest_rate, infinity);
  number("weight decay", settings.weight_decay, infinity);
  number("clip", settings.clip, infinity);
  number("beta1", settings.beta1, 1);
  number("beta2", settings.beta2, 1);
  number("momentum", settings.momentum, 1);
  number("dropout", settings.dropout, 1);
}

std::string run_description(const TrainingSettings& settings) {
  std::string text = "context " + std::to_string(settings.context);
  text += ", tokens per step " + std::to_string(settings.tokens_per_step);
  text += ", tokens per call " + std::to_string(settings.tokens_per_call);
  text += ", weight decay " + fixed(settings.weight_decay, 6);
  const std::string adamw = ", AdamW " + fixed(settings.beta1, 6) + " " + fixed(settings.beta2, 6);
  switch (settings.optimizer) {
    case OptimizerKind::adamw: text += adamw; break;
    case OptimizerKind::sgd: text += ", SGD " + fixed(settings.momentum, 6); break;
    case OptimizerKind::muon: text += ", Muon " + fixed(settings.momentum, 6) + adamw; break;
  }
  text += ", clip " + fixed(settings.clip, 6);
  text += ", dropout " + fixed(settings.dropout, 6);
  text += ", seed " + std::to_string(settings.seed);
  return text;
}

Trainer::Trainer(LanguageModel& model, Kernels& forward, BackwardKernels& backward, Parameters& parameters,
                 const TokenData& training, const TrainingSettings& settings)
    : forward_(forward),
      backward_(backward),
      parameters_(parameters),
      settings_(settings),
      data_fingerprint_(training.fingerprint()),
      maker_(model, forward, backward, parameters, settings.activations),
      optimizer_(make_optimizer(parameters, settings)),
      dropout_(settings.dropout, settings.seed, backward),
      packer_(training, settings.context, settings.tokens_per_step, settings.seed) {
  check(settings);
  maker_.repeat_with(&dropout_);
}

double Trainer::add_gradients(std::span<const Sample> batch, std::span<Observer* const> observers) {
  parameters_.clear_gradients(backward_);
  const double divisor = total_weight(batch);
  int64_t call = 0;
  double loss = 0;
  in_calls(batch, settings_.tokens_per_call, [&](std::span<const Sample> samples) {
    dropout_.begin(steps_taken() * (settings_.tokens_per_step + 1) + call++);
    loss += maker_.add_gradients(samples, divisor, observers, observers);
  });
  return loss;
}

StepReport Trainer::step() {
  const std::vector<Sample> batch = packer_.next();
  Observer* const dropout = &dropout_;
  const double tokens = total_weight(batch);
  StepReport report{.step = steps_taken() + 1, .tokens = static_cast<int64_t>(tokens)};
  for (const Sample& sample : batch) report.mean_length += std::pow(guesses(sample), 2) / tokens;
  report.loss = add_gradients(batch, std::span(&dropout, 1));
  if (!std::isfinite(report.loss)) fail_at_non_finite(batch, "the loss is not finite any more");
  report.gradient_norm = parameters_.clip_gradients(backward_, settings_.clip);
  if (!std::isfinite(report.gradient_norm)) fail_at_non_finite(batch, "a gradient is not finite any more");
  const Schedule schedule{.highest = settings_.rate,
                          .lowest = settings_.lowest_rate,
                          .warmup_steps = settings_.warmup_steps,
                          .total_steps = settings_.steps};
  report.rate = schedule.rate(steps_taken());
  optimizer_->step(parameters_, backward_, report.rate);
  return report;
}

// Looking at every tensor of every step would cost time; so the step is made once more, and looked at.
void Trainer::fail_at_non_finite(std::span<const Sample> batch, const char* what) {
  FiniteCheck finite(forward_, what);
  for (const Parameter& parameter : parameters_.all()) finite.check(parameter.weight);
  Observer* const observers[] = {&dropout_, &finite};
  add_gradients(batch, observers);
  throw Error({.what = what, .where = "step " + std::to_string(steps_taken() + 1)});
}

double Trainer::loss(std::span<const Sample> samples, const std::function<bool()>& goes_on) {
  const double divisor = total_weight(samples);
  double sum = 0;
  const int64_t rows = std::min(settings_.tokens_per_call, settings_.tokens_per_step);  // no more memory than a step
  in_calls(samples, rows, [&](std::span<const Sample> some) {
    if (std::isnan(sum)) return;
    sum += goes_on && !goes_on() ? std::numeric_limits<double>::quiet_NaN() : maker_.loss(some, divisor);
  });
  return sum;
}

uint64_t Trainer::memory_bytes() const {
  uint64_t bytes = parameters_.bytes() + maker_.arena().peak() + maker_.tape().gradient_bytes();
  for (const Tensor& tensor : optimizer_->state()) bytes += n_bytes(tensor);
  return bytes;
}

void Trainer::save(const std::string& path, const Checkpoint& checkpoint) const {
  write_training_state(path, checkpoint, *optimizer_,
                       {.steps_taken = steps_taken(),
                        .place = packer_.place(),
                        .settings = run_description(settings_),
                        .data = data_fingerprint_});
}

void Trainer::resume(const std::string& path) {
  const SavedTraining saved = read_training_state(path);
  const auto require_same = [&](const char* what, const std::string& expected, const std::string& found) {
    if (expected == found) return;
    throw Error({.what = std::string("this is another run: it was saved with other ") + what,
                 .where = path,
                 .expected = expected,
                 .found = found,
                 .hint = "give the options of that run, or another --output to begin a new one"});
  };
  require_same("settings", saved.state.settings, run_description(settings_));
  require_same("training data", saved.state.data, data_fingerprint_);
  restore(saved, parameters_, *optimizer_);
  packer_.go_to(saved.state.place);
}

}  // namespace orrery
