// The tape under whole models.
#include "learn/tape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "learn/learning.h"
#include "learn/training_memory.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr int kConfigs = kVariants + 2;

// All families that the tests know, one of them with every bias and gate at once, and one whose blocks are small next
// to the vocabulary.
ModelConfig config_of(int variant) {
  if (variant < kVariants) return small_config(variant);
  ModelConfig c = small_config(variant == kVariants ? 5 : 0);
  if (variant == kVariants) {
    c.gated_ffn = true;
    c.activation = Activation::silu;
  } else {
    c.d_ff = 8;
    c.n_layers = 3;
  }
  return c;
}

// What rounding makes of a gradient that is 0, next to the length of all gradients together. (A bias of k is one: it
// moves all scores of a query by the same amount.)
constexpr double kRounding = 1e-7;

struct Seen : Observer {
  bool wants(const Probe&) const override { return true; }
  void on_tensor(const Probe& probe, Tensor& tensor) override {
    names.emplace_back(probe.name);
    layers.push_back(probe.layer);
    if (probe.name == changed) {
      for (int64_t i = 0; i < n_elements(tensor); ++i) values<double>(tensor)[i] *= factor;
    }
  }
  bool has(const std::string& name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

  std::vector<std::string> names;
  std::vector<int> layers;
  std::string changed;
  double factor = 0;
};

}  // namespace

TEST_CASE("gradients of whole models agree with finite differences") {
  for (int variant = 0; variant < kConfigs; ++variant) {
    CAPTURE(variant);
    const ModelConfig config = config_of(variant);
    Learning learning(*random_model(config, DType::F32), DType::F64, 2);
    const Texts texts({9, 2, 14}, config.vocab_size);
    const double divisor = total_weight(texts.samples);
    CHECK(divisor == 8 + 1 + 13);
    const double loss = learning.gradients(texts.samples);
    CHECK(learning.maker->loss(texts.samples, divisor) == loss);
    Random random(1);
    for (const Parameter& parameter : learning.parameters.all()) {
      CAPTURE(parameter.weight.name);
      for (int tried = 0; tried < 3; ++tried) {
        const auto i = static_cast<int64_t>(random.below(static_cast<uint64_t>(n_elements(parameter.weight))));
        double& weight = values<double>(parameter.weight)[i];
        const double before = weight;
        constexpr double kStep = 1e-5;
        weight = before + kStep;
        const double above = learning.maker->loss(texts.samples, divisor);
        weight = before - kStep;
        const double below = learning.maker->loss(texts.samples, divisor);
        weight = before;
        CHECK(std::abs(values<double>(parameter.gradient)[i] - (above - below) / (2 * kStep)) < 1e-7);
      }
    }
  }
}

TEST_CASE("fast gradients agree with the reference and do not depend on threads or on what is kept") {
  for (int variant = 0; variant < kConfigs; ++variant) {
    CAPTURE(variant);
    const ModelConfig config = config_of(variant);
    const auto checkpoint = random_model(config, DType::F32);
    const Texts texts({150, 2, 40, 270}, config.vocab_size);
    Learning exact(*checkpoint, DType::F64, 2), plain(*checkpoint, DType::F32, 2, Activations::keep, true);
    Learning fast(*checkpoint, DType::F32, 1);
    const double loss = exact.gradients(texts.samples);
    CHECK(plain.gradients(texts.samples) == doctest::Approx(loss).epsilon(1e-6));
    const double fast_loss = fast.gradients(texts.samples);
    CHECK(fast_loss == doctest::Approx(loss).epsilon(1e-6));
    const auto expected = exact.all_gradients(), plain_gradients = plain.all_gradients(), found = fast.all_gradients();
    for (size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(fast.parameters.all()[i].weight.name);
      const double noise = kRounding * exact.parameters.gradient_norm(*exact.backward);
      CHECK(distance(plain_gradients[i], expected[i]) < 2e-5 * length(expected[i]) + noise);
      CHECK(distance(found[i], expected[i]) < 2e-5 * length(expected[i]) + noise);
    }
    for (const int n_threads : {1, 2, 3}) {
      for (const Activations activations : {Activations::keep, Activations::compute}) {
        CAPTURE(n_threads);
        CAPTURE(int(activations));
        Learning other(*checkpoint, DType::F32, n_threads, activations);
        CHECK(other.gradients(texts.samples) == fast_loss);
        CHECK(other.all_gradients() == found);
        CHECK((other.maker->tape().repeated_calls() > 0) == (activations == Activations::compute));
        other.gradients(texts.samples);  // memory that was used before
        CHECK(other.all_gradients() == found);
      }
    }
  }
}

TEST_CASE("what stays in memory is what was predicted") {
  for (int variant = 0; variant < kConfigs; ++variant) {
    CAPTURE(variant);
    ModelConfig config = config_of(variant);
    config.n_layers = 5;
    const Texts texts({200, 100}, config.vocab_size);
    for (const Activations activations : {Activations::keep, Activations::compute}) {
      CAPTURE(int(activations));
      Learning learning(*random_model(config, DType::F32), DType::F32, 1, activations);
      learning.gradients(texts.samples);
      const TrainingMemory predicted = training_memory(config, 298, activations);
      const auto arena = static_cast<double>(learning.maker->arena().peak());
      CHECK(arena >= static_cast<double>(predicted.activations));
      // Where one of the arena's blocks ends, the space is lost that the next tensor does not fit into.
      const auto largest = static_cast<double>(298 * config.vocab_size * 4);
      CHECK(arena <= 1.1 * static_cast<double>(predicted.activations) + largest);
      CHECK(learning.maker->tape().gradient_bytes() == predicted.activation_gradients);
      CHECK(learning.parameters.bytes() == 2 * predicted.weights);
    }
    CHECK(training_memory(config, 298, Activations::compute).activations <
          0.6 * static_cast<double>(training_memory(config, 298, Activations::keep).activations));
  }
}

TEST_CASE("only what was written over is computed again, and of it only what the way back needs") {
  ModelConfig config = small_config(0);  // gated, no biases, RoPE
  const Texts texts({30}, config.vocab_size);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1, Activations::compute);
  learning.gradients(texts.samples);
  // Of the first block: two norms, q k v, two ropes, attention, its output, resid_mid, gate, up, activation; not
  // ffn.out and not the residual. Over the second, final_norm and logits (332 numbers a row) were written as far as
  // ffn.gate.
  CHECK(learning.maker->tape().repeated_calls() == 13 + 11);
}

TEST_CASE("gradients of activations come and go, and none is left") {
  // What is there when each gradient is shown, with its own.
  struct Watch : Observer {
    explicit Watch(const Tape& watched) : tape(watched) {}
    bool wants(const Probe& probe) const override { return !probe.name.ends_with("weight.grad"); }
    void on_tensor(const Probe&, Tensor& gradient) override {
      CHECK(tape.gradient_bytes_now() >= n_bytes(gradient));
      CHECK(tape.gradient_bytes_now() <= tape.gradient_bytes());
      if (seen++ == 0) CHECK(tape.gradient_bytes_now() == (n_bytes(gradient) + 63) / 64 * 64);  // the logits' alone
    }
    const Tape& tape;
    int seen = 0;
  };
  const ModelConfig config = small_config(0);
  const Texts texts({20, 7}, config.vocab_size);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1);
  Watch watch(learning.maker->tape());
  Observer* observers[] = {&watch};
  learning.maker->add_gradients(texts.samples, 25, {}, observers);
  CHECK(watch.seen > 20);
  CHECK(learning.maker->tape().gradient_bytes_now() == 0);
  CHECK(learning.maker->tape().gradient_bytes() > 0);
}

TEST_CASE("observers see every gradient once, by name, and can change it") {
  const ModelConfig config = small_config(0);
  const Texts texts({20}, config.vocab_size);
  Learning learning(*random_model(config, DType::F32), DType::F64, 1);
  Seen seen;
  Observer* observers[] = {&seen};
  learning.maker->add_gradients(texts.samples, 19, {}, observers);
  CHECK(seen.names.front() == "logits.grad");
  for (const char* name : {"final_norm.grad", "blk.1.resid.grad", "blk.1.attn.q.grad", "blk.1.attn.k_rope.grad",
                           "blk.0.ffn.act.grad", "embed.grad", "token_embd.weight.grad", "blk.0.attn_q.weight.grad"}) {
    CAPTURE(name);
    CHECK(std::count(seen.names.begin(), seen.names.end(), name) == 1);
  }
  for (size_t i = 0; i < seen.names.size(); ++i) {
    const std::string prefix = "blk." + std::to_string(seen.layers[i]) + ".";
    CHECK(seen.names[i].starts_with("blk.") == (seen.layers[i] >= 0));
    if (seen.layers[i] >= 0) CHECK(seen.names[i].starts_with(prefix));
  }
  // Without the gradient of q, its projection learns nothing; that of k goes on.
  learning.parameters.clear_gradients(*learning.backward);
  seen.changed = "blk.1.attn.q.grad";
  learning.maker->add_gradients(texts.samples, 19, {}, observers);
  CHECK(largest_magnitude(numbers(learning.parameters.named("blk.1.attn_q.weight").gradient)) == 0);
  CHECK(largest_magnitude(numbers(learning.parameters.named("blk.1.attn_k.weight").gradient)) > 0);
}

TEST_CASE("NaN comes through to the weights") {
  const ModelConfig config = small_config(0);
  const Texts texts({20}, config.vocab_size);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1);
  values<float>(learning.parameters.named("blk.1.ffn_norm.weight").weight)[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(learning.gradients(texts.samples)));
  for (const char* name : {"token_embd.weight", "blk.0.attn_q.weight", "blk.1.ffn_norm.weight"}) {
    CAPTURE(name);
    CHECK(learning.forward->first_non_finite(learning.parameters.named(name).gradient) >= 0);
  }
  CHECK(std::isnan(learning.parameters.clip_gradients(*learning.backward, 1.0)));
}

TEST_CASE("the tape refuses what has no way back") {
  const ModelConfig config = small_config(0);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1);
  Tape tape(*learning.forward, *learning.backward, learning.parameters);
  Arena arena(true);
  CHECK_THROWS_AS(tape.backward({}), Error);  // no loss
  const auto state = learning.model->new_sequence();
  const Row with_state[] = {{1, 0, state.get()}};
  CHECK_THROWS_AS(learning.model->forward(with_state, tape, arena), Error);
  tape.clear();
  Seen seen;  // wants the scores as well
  Observer* observers[] = {&seen};
  const Row rows[] = {{1, 0}, {2, 1}};
  CHECK_THROWS_AS(learning.model->forward(rows, tape, arena, observers), Error);
}

TEST_CASE("only rows that want logits, and only guesses with a weight, take part") {
  for (int variant : {0, 5}) {
    const ModelConfig config = small_config(variant);
    Learning learning(*random_model(config, DType::F32), DType::F64, 1);
    const std::vector<TokenId> tokens = random_ids(12, config.vocab_size, 5);
    // A sample whose guesses count only from the seventh on ...
    std::vector<float> weights(11, 0.0f);
    std::fill(weights.begin() + 6, weights.end(), 1.0f);
    const Sample sample = {tokens, weights};
    CHECK(total_weight(std::span(&sample, 1)) == 5);
    const double loss = learning.gradients(std::span(&sample, 1));
    const auto weighted = learning.all_gradients();
    // ... and the same with logits for these rows alone.
    learning.parameters.clear_gradients(*learning.backward);
    Tape tape(*learning.forward, *learning.backward, learning.parameters);
    Arena arena(true);
    std::vector<Row> rows;
    for (int i = 0; i < 11; ++i) rows.push_back({tokens[size_t(i)], i, nullptr, i >= 6});
    const Tensor logits = learning.model->forward(rows, tape, arena);
    std::vector<double> losses(5);
    tape.cross_entropy(logits, std::span(tokens).subspan(7), losses);
    tape.backward(std::vector<double>(5, 1.0 / 5));
    double mean = 0;
    for (const double one : losses) mean += one / 5;
    CHECK(mean == doctest::Approx(loss).epsilon(1e-12));
    const auto found = learning.all_gradients();
    for (size_t i = 0; i < found.size(); ++i) CHECK(relative_distance(found[i], weighted[i]) < 1e-12);
  }
}
