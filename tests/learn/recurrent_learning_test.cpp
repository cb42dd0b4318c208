// Recurrent models under the tape: gradients, dropout, memory, what weights begin as, and that they learn.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "learn/dropout.h"
#include "learn/learning.h"
#include "learn/recurrent_initialization.h"
#include "learn/training_memory.h"
#include "recurrent/recurrent_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct RecurrentLearning {
  RecurrentLearning(const ModelConfig& config, DType dtype, int threads = 1,
                    Activations activations = Activations::keep)
      : learner(config, dtype, Threads(threads), 3),
        maker(*learner.model, *learner.forward, *learner.backward, learner.parameters, activations) {}

  double gradients(std::span<const Sample> samples, std::span<Observer* const> observers = {}) {
    learner.parameters.clear_gradients(*learner.backward);
    return maker.add_gradients(samples, total_weight(samples), observers, observers);
  }
  std::vector<std::vector<double>> all_gradients() const {
    std::vector<std::vector<double>> all;
    for (const Parameter& parameter : learner.parameters.all()) all.push_back(numbers(parameter.gradient));
    return all;
  }

  Learner learner;
  GradientMaker maker;
};

// Of some numbers of every weight: the slope of `loss` against the gradients found before.
template <class Loss>
void check_slopes(RecurrentLearning& learning, const Loss& loss) {
  const auto gradients = learning.all_gradients();
  Random random(2);
  for (size_t p = 0; p < gradients.size(); ++p) {
    const Parameter& parameter = learning.learner.parameters.all()[p];
    CAPTURE(std::string(parameter.weight.name));
    for (int i = 0; i < 6; ++i) {
      const size_t element = random.below(gradients[p].size());
      double& number = values<double>(parameter.weight)[element];
      const double before = number, step = 1e-5;
      number = before + step;
      const double above = loss();
      number = before - step;
      const double below = loss();
      number = before;
      CHECK(std::abs(gradients[p][element] - (above - below) / (2 * step)) < 1e-8);
    }
  }
}

}  // namespace

TEST_CASE("the gradients of recurrent models are slopes of the loss: every cell, tied heads, several texts") {
  for (const Architecture architecture : kRecurrent) {
    for (const int variant : {0, 1, 2}) {
      CAPTURE(std::string(name_of(architecture)));
      CAPTURE(variant);
      const ModelConfig config = small_recurrent_config(architecture, variant);
      RecurrentLearning learning(config, DType::F64);
      const Texts texts({7, 2, 12}, config.vocab_size);
      const double loss = learning.gradients(texts.samples);
      const double divisor = total_weight(texts.samples);
      CHECK(learning.maker.loss(texts.samples, divisor) == doctest::Approx(loss).epsilon(1e-14));
      check_slopes(learning, [&] { return learning.maker.loss(texts.samples, divisor); });
    }
  }
}

TEST_CASE("fast gradients of recurrent models agree with double precision, with the same bits for any threads") {
  for (const Architecture architecture : kRecurrent) {
    CAPTURE(std::string(name_of(architecture)));
    const ModelConfig config = small_recurrent_config(architecture, 3);
    RecurrentLearning exact(config, DType::F64), one(config, DType::F32), two(config, DType::F32, 2);
    RecurrentLearning again(config, DType::F32, 1, Activations::compute);
    const Texts texts({30, 9, 30, 30, 21, 6, 30}, config.vocab_size);
    for (RecurrentLearning* learning : {&exact, &one, &two, &again}) learning->gradients(texts.samples);
    CHECK(two.all_gradients() == one.all_gradients());
    CHECK(again.all_gradients() == one.all_gradients());
    for (size_t i = 0; i < one.all_gradients().size(); ++i) {
      CAPTURE(std::string(one.learner.parameters.all()[i].weight.name));
      CHECK(relative_distance(one.all_gradients()[i], exact.all_gradients()[i]) < 1e-5);
    }
  }
}

TEST_CASE("dropout between recurrent layers: the gradients are those of the thinned network") {
  for (const Architecture architecture : {Architecture::lstm, Architecture::gru}) {
    const ModelConfig config = small_recurrent_config(architecture);
    RecurrentLearning learning(config, DType::F64);
    Dropout dropout(0.3, 5, *learning.learner.backward);
    Observer* const observers[] = {&dropout};
    const Texts texts({7, 12}, config.vocab_size);
    const double without = learning.gradients(texts.samples);
    const auto loss = [&] {
      dropout.begin(1);
      return learning.gradients(texts.samples, observers);
    };
    CHECK(std::abs(loss() - without) > 1e-3);
    check_slopes(learning, loss);
    CHECK(dropout.wants({.name = "lstm.0.out", .layer = 0}));
    CHECK(!dropout.wants({.name = "lstm.0.hidden", .layer = 0}));
  }
}

TEST_CASE("recurrent training takes the memory that was predicted") {
  for (const Architecture architecture : kRecurrent) {
    for (const int variant : {0, 1, 2, 3}) {
      CAPTURE(std::string(name_of(architecture)));
      const ModelConfig config = small_recurrent_config(architecture, variant);
      RecurrentLearning learning(config, DType::F32);
      const Texts texts({21, 21}, config.vocab_size);
      learning.gradients(texts.samples);
      const TrainingMemory memory = training_memory(config, 40, Activations::keep);
      CHECK(memory.activations == learning.maker.arena().peak());
      CHECK(memory.activation_gradients == learning.maker.tape().gradient_bytes());
      CHECK(2 * memory.weights == learning.learner.parameters.bytes());
    }
  }
}

TEST_CASE("what recurrent weights begin as") {
  const ModelConfig config = small_recurrent_config(Architecture::lstm, 1);
  Parameters plain(config, DType::F64), with_options(config, DType::F64);
  initialize_recurrent(plain, config, 7);
  initialize_recurrent(with_options, config, 7, {.orthogonal = true, .forget_bias = 1});
  const double limit = 1 / std::sqrt(32.0);
  for (const Parameter& parameter : plain.all()) {
    const std::vector<double> all = numbers(parameter.weight);
    if (std::string(parameter.weight.name) == "token_embd.weight") continue;
    CAPTURE(std::string(parameter.weight.name));
    CHECK(largest_magnitude(all) <= limit);
    CHECK(largest_magnitude(all) > 0.8 * limit);
  }
  // Each gate's matrix times its transpose is 1.
  const std::vector<double> hidden = numbers(with_options.named("blk.1.cell_hh.weight").weight);
  double largest = 0;
  for (size_t gate = 0; gate < 4; ++gate) {
    for (size_t a = 0; a < 32; ++a) {
      for (size_t b = 0; b < 32; ++b) {
        double dot = 0;
        for (size_t k = 0; k < 32; ++k) dot += hidden[(gate * 32 + a) * 32 + k] * hidden[(gate * 32 + b) * 32 + k];
        const double difference = std::abs(dot - (a == b ? 1 : 0));
        if (!(difference <= largest)) largest = difference;
      }
    }
  }
  CHECK(largest < 1e-12);
  const std::vector<double> bias = numbers(with_options.named("blk.0.cell_ih.bias").weight);
  for (size_t i = 0; i < bias.size(); ++i) CHECK(std::abs(bias[i] - (i / 32 == 1 ? 1 : 0)) <= limit);
  Parameters again(config, DType::F64);
  initialize(again, config, 7);
  CHECK(numbers(again.named("output.weight").weight) == numbers(plain.named("output.weight").weight));
}

TEST_CASE("every recurrent cell learns to say what it read some steps ago") {
  // Two tokens that nobody can know, then the same two again.
  Random random(4);
  std::vector<std::vector<TokenId>> texts;
  for (int i = 0; i < 12; ++i) {
    std::vector<TokenId> text = {1, 2, 3};
    for (int k = 0; k < 20; ++k) {
      text.push_back(k % 4 < 2 ? static_cast<TokenId>(4 + random.below(8)) : text[text.size() - 2]);
    }
    texts.push_back(text);
  }
  std::vector<Sample> samples;
  for (const auto& text : texts) samples.push_back({text});
  for (const Architecture architecture : kRecurrent) {
    CAPTURE(std::string(name_of(architecture)));
    RecurrentLearning learning(small_recurrent_config(architecture), DType::F32);
    AdamW optimizer(learning.learner.parameters, {.weight_decay = 0});
    double loss = 0;
    for (int step = 0; step < 250; ++step) {
      loss = learning.gradients(samples);
      learning.learner.parameters.clip_gradients(*learning.learner.backward, 1);
      optimizer.step(learning.learner.parameters, *learning.learner.backward, 1e-2);
    }
    // Half of the tokens cannot be known: log(8) / 2 = 1.04 is what is left to one who copies, log(8) to one who does
    // not.
    CHECK(loss < 1.3);
  }
}

// An encoder whose last states a decoder begins with: the loss reaches the encoder through its cells, and where
// `through_cells_alone`, through nothing else.
TEST_CASE("the gradient of a loss goes through the cells and hidden states that a layer begins with") {
  constexpr int64_t kIn = 3, kHidden = 5, kVocab = 6;
  const std::vector<RowRange> read = {{0, 4}, {4, 2}}, written = {{0, 2}, {2, 3}};
  const std::vector<int32_t> targets = {1, 5, 0, 2, 3};
  for (const bool through_cells_alone : {false, true}) {
    Parameters parameters({{"x", {6, kIn}},
                           {"y", {5, kIn}},
                           {"ih.weight", {4 * kHidden, kIn}},
                           {"hh.weight", {4 * kHidden, kHidden}},
                           {"ih.bias", {4 * kHidden}},
                           {"hh.bias", {4 * kHidden}},
                           {"head.weight", {kVocab, kHidden}}},
                          DType::F64);
    Random random(3);
    for (const Parameter& parameter : parameters.all()) {
      for (int64_t i = 0; i < n_elements(parameter.weight); ++i)
        values<double>(parameter.weight)[i] = random.normal() / 2;
    }
    ReferenceKernels<double> kernels{Threads(1)};
    ReferenceBackward<double> backward{Threads(1)};
    Tape tape(kernels, backward, parameters);
    const auto weight = [&](const char* name) { return parameters.named(name).weight; };
    const RecurrentWeights weights = {weight("ih.weight"), weight("hh.weight"), weight("ih.bias"), weight("hh.bias")};
    const auto loss = [&](Kernels& on, Arena& arena) {
      const auto layer = [&](const char* x, std::span<const RowRange> sequences, const RecurrentStart& start) {
        const auto make = [&](const char* name) { return arena.make(name, DType::F64, {weight(x).shape[0], kHidden}); };
        LstmOutput y{make("input"), make("forget"), make("candidate"), make("output"), make("cell"), make("hidden")};
        on.lstm({.sequences = sequences, .x = weight(x), .weights = weights, .start = start}, y);
        return y;
      };
      const LstmOutput encoded = layer("x", read, {});
      // The last row of each of the two sequences. They lie two rows apart: a view.
      const auto last = [&](const Tensor& states) {
        Tensor rows = slice_rows(states, 3, 2);
        rows.stride[0] = 2 * kHidden;
        rows.shape[0] = 2;
        return rows;
      };
      RecurrentStart start{.cell = last(encoded.cell)};
      if (!through_cells_alone) start.hidden = last(encoded.hidden);
      const LstmOutput decoded = layer("y", written, start);
      Tensor logits = arena.make("logits", DType::F64, {5, kVocab});
      on.matmul(decoded.hidden, weight("head.weight"), logits);
      std::vector<double> losses(targets.size());
      on.cross_entropy(logits, targets, losses);
      double sum = 0;
      for (const double one : losses) sum += one;
      return sum;
    };
    Arena arena(true);
    loss(tape, arena);
    tape.backward(std::vector<double>(targets.size(), 1.0));
    for (const Parameter& parameter : parameters.all()) {
      CAPTURE(std::string(parameter.weight.name));
      CAPTURE(through_cells_alone);
      const std::vector<double> found = numbers(parameter.gradient);
      double largest = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        double& number = values<double>(parameter.weight)[i];
        const double before = number, step = 1e-5;
        Arena plain;
        number = before + step;
        const double above = loss(kernels, plain);
        number = before - step;
        const double below = loss(kernels, plain);
        number = before;
        largest = std::max(largest, std::abs(found[i] - (above - below) / (2 * step)));
      }
      CHECK(largest < 1e-8);
      CHECK(largest_magnitude(found) > 1e-6);
    }
  }
}
