#include "compare/model_costs.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/random.h"
#include "config/arithmetic.h"
#include "kernels/decorated_kernels.h"
#include "learn/gradients.h"
#include "learn/optimizer.h"
#include "measure/bench.h"

namespace orrery {
namespace {

constexpr int64_t kPrefillRows = 256;

std::vector<TokenId> random_text(const ModelConfig& config, int64_t length, Random& random) {
  std::vector<TokenId> text;
  for (int64_t i = 0; i < length; ++i) {
    text.push_back(static_cast<TokenId>(random.below(static_cast<uint64_t>(config.vocab_size))));
  }
  return text;
}

// A sequence that goes on and on.
class Walker {
 public:
  explicit Walker(Learner& learner) : learner_(learner), state_(learner.model->new_sequence()), random_(1) {}

  void go_to(int64_t position, Kernels& kernels) {
    while (state_->length() < position) {
      step(std::min<int64_t>(kPrefillRows, position - state_->length()), false, kernels);
    }
  }
  void step(int64_t count, bool wants_logits, Kernels& kernels) {
    std::vector<Row> rows;
    for (const TokenId token : random_text(learner_.config, count, random_)) {
      const int position = state_->length() + static_cast<int>(rows.size());
      rows.push_back({.token = token, .position = position, .state = state_.get(), .wants_logits = wants_logits});
    }
    arena_.reset();
    learner_.model->forward(rows, kernels, arena_);
  }
  const SequenceState& state() const { return *state_; }

 private:
  Learner& learner_;
  std::unique_ptr<SequenceState> state_;
  Arena arena_;
  Random random_;
};

}  // namespace

CountedCosts count_costs(const Contestant& contestant, const std::vector<int64_t>& contexts) {
  const auto learner = make_learner(contestant, Threads(1), 1);
  CountedCosts costs{.parameters_by_formula = contestant.parameters(),
                     .parameters_by_count = learner->parameters.count(),
                     .contexts = contexts,
                     .flops_by_formula = {},
                     .flops_by_count = {},
                     .state_bytes = {}};
  Walker walker(*learner);
  for (const int64_t context : contexts) {
    walker.go_to(context, *learner->forward);
    CountingKernels counting(*learner->forward);
    walker.step(1, true, counting);
    costs.flops_by_count.push_back(sum(counting.totals()).flops);
    costs.flops_by_formula.push_back(
        forward_flops(contestant.config, consecutive_rows(contestant.config, context, 1, 1)).total());
    costs.state_bytes.push_back(walker.state().bytes());
  }
  return costs;
}

std::vector<double> seconds_per_token(const Contestant& contestant, const std::vector<int64_t>& contexts,
                                      int repetitions, const Threads& threads) {
  const auto learner = make_learner(contestant, threads, 1);
  Walker walker(*learner);
  std::vector<double> result;
  for (const int64_t context : contexts) {
    walker.go_to(context, *learner->forward);
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
      const double start = seconds_now();
      walker.step(1, true, *learner->forward);
      seconds.push_back(seconds_now() - start);
    }
    result.push_back(median(seconds));
  }
  return result;
}

double training_tokens_per_second(const Contestant& contestant, int length, int tokens_per_step, int repetitions,
                                  const Threads& threads) {
  const auto learner = make_learner(contestant, threads, 1);
  GradientMaker maker(*learner->model, *learner->forward, *learner->backward, learner->parameters);
  AdamW optimizer(learner->parameters, {});
  Random random(1);
  std::vector<std::vector<TokenId>> texts;
  std::vector<Sample> samples;
  for (int tokens = 0; tokens < tokens_per_step; tokens += length) {
    texts.push_back(random_text(contestant.config, length + 1, random));
  }
  for (const auto& text : texts) samples.push_back({text});
  const double tokens = total_weight(samples);
  std::vector<double> seconds;
  for (int i = 0; i <= repetitions; ++i) {  // the first takes memory
    const double start = seconds_now();
    learner->parameters.clear_gradients(*learner->backward);
    maker.add_gradients(samples, tokens);
    optimizer.step(learner->parameters, *learner->backward, 1e-4);
    if (i > 0) seconds.push_back(seconds_now() - start);
  }
  return tokens / median(seconds);
}

namespace {

// The length of each row of the embedding's gradient.
struct EmbeddingGradient : Observer {
  bool wants(const Probe& probe) const override { return probe.name == "embed.grad"; }
  void on_tensor(const Probe&, Tensor& tensor) override {
    for (int64_t row = 0; row < tensor.shape[0]; ++row) {
      double squares = 0;
      for (int64_t i = 0; i < tensor.shape[1]; ++i) {
        const double value = values<double>(tensor)[row * tensor.shape[1] + i];
        squares += value * value;
      }
      norms.push_back(std::sqrt(squares));
    }
  }
  std::vector<double> norms;
};

}  // namespace

// In double precision: what a plain recurrent network loses over some hundred steps has no place in a float.
std::vector<double> gradient_reach(const Contestant& contestant, int steps, int texts, uint64_t seed,
                                   const Threads& threads) {
  const auto learner = make_learner(contestant, threads, seed, DType::F64);
  GradientMaker maker(*learner->model, *learner->forward, *learner->backward, learner->parameters);
  Random random(seed);
  std::vector<double> means(static_cast<size_t>(steps + 1));
  for (int i = 0; i < texts; ++i) {
    const std::vector<TokenId> text = random_text(contestant.config, steps + 2, random);
    std::vector<float> weights(static_cast<size_t>(steps + 1));
    weights.back() = 1;
    EmbeddingGradient observer;
    Observer* const observers[] = {&observer};
    const Sample sample{text, weights};
    maker.add_gradients(std::span(&sample, 1), 1, {}, observers);
    for (size_t d = 0; d < means.size(); ++d) means[d] += observer.norms[means.size() - 1 - d] / texts;
  }
  return means;
}

}  // namespace orrery
