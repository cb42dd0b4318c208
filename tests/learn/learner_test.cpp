#include "learn/learner.h"

#include <cmath>

#include "config/arithmetic.h"
#include "learn/learning.h"
#include "learn/memory_watch.h"
#include "learn/training_memory.h"
#include "support/expect_error.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("learner: the same seed gives the same weights in both types, and the model runs on them") {
  const ModelConfig config =
      llama_config({.n_layers = 2, .d_model = 24, .n_heads = 3, .vocab_size = 50, .context_length = 16});
  CHECK(config.d_ff == 64);
  CHECK(config.head_dim == 8);
  Learner single(config, DType::F32, Threads(1), 7), exact(config, DType::F64, Threads(1), 7);
  CHECK(single.parameters.count() == parameter_count(config).total());
  const Texts texts({16}, config.vocab_size);
  GradientMaker maker(*single.model, *single.forward, *single.backward, single.parameters);
  GradientMaker exact_maker(*exact.model, *exact.forward, *exact.backward, exact.parameters);
  CHECK(maker.loss(texts.samples, 15) == doctest::Approx(exact_maker.loss(texts.samples, 15)).epsilon(1e-5));
  CHECK(maker.loss(texts.samples, 15) == doctest::Approx(std::log(50.0)).epsilon(0.1));
  CHECK_ERROR(llama_config({.n_layers = 1, .d_model = 10, .n_heads = 3, .vocab_size = 9, .context_length = 4}),
              "the width cannot be shared out among the heads", "width 10, heads 3");
}

TEST_CASE("memory watch: a step holds what was predicted, and ends with no gradients of activations") {
  const ModelConfig config =
      llama_config({.n_layers = 3, .d_model = 32, .n_heads = 2, .vocab_size = 64, .context_length = 64});
  const Texts texts({65, 65}, config.vocab_size);
  for (const Activations activations : {Activations::keep, Activations::compute}) {
    Learner learner(config, DType::F32, Threads(1));
    GradientMaker maker(*learner.model, *learner.forward, *learner.backward, learner.parameters, activations);
    maker.add_gradients(texts.samples, 128);  // afterwards the arena is one block, without gaps
    MemoryWatch watch(maker);
    Observer* observers[] = {&watch};
    maker.add_gradients(texts.samples, 128, observers, observers);
    const TrainingMemory predicted = training_memory(config, 128, activations);
    CHECK(watch.most_activations() == predicted.activations);
    CHECK(watch.activations().back() == predicted.activations);
    CHECK(watch.gradients().front() == 0);
    CHECK(std::ranges::max(watch.gradients()) <= predicted.activation_gradients);
    CHECK(watch.gradients().size() == watch.activations().size());
    CHECK(maker.tape().gradient_bytes_now() == 0);
    const AreaFigure figure = memory_figure(watch, 3'000'000);
    CHECK(figure.areas[0].y.front() == 3);
    CHECK(figure.areas[2].y.size() == watch.activations().size());
  }
}
