// Parameters, optimizers, schedules, and batches that come in parts.
#include "learn/optimizer.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "learn/learning.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("weights start small, and smaller where they add to the residual stream") {
  for (int variant = 0; variant < kVariants; ++variant) {
    const ModelConfig config = small_config(variant);
    Parameters parameters(config, DType::F32), same(config, DType::F32), wide(config, DType::F64);
    initialize(parameters, config, 5);
    initialize(same, config, 5);
    initialize(wide, config, 5);
    for (const Parameter& parameter : parameters.all()) {
      const std::string name = parameter.weight.name;
      CAPTURE(name);
      const std::vector<double> weights = numbers(parameter.weight);
      CHECK(weights == numbers(same.named(name).weight));
      CHECK(largest_difference(weights, numbers(wide.named(name).weight)) < 1e-7);
      if (parameter.weight.n_dims == 1) {
        const double fixed = name.ends_with(".bias") ? 0 : 1;
        CHECK(weights == std::vector<double>(weights.size(), fixed));
        CHECK(!parameter.decays);
        continue;
      }
      CHECK(parameter.decays);
      double squares = 0;
      for (const double weight : weights) squares += weight * weight;
      const double deviation = std::sqrt(squares / static_cast<double>(weights.size()));
      const bool is_output = name.ends_with("attn_output.weight") || name.ends_with("ffn_down.weight");
      const double small = std::sqrt(2.0 / (5 * 32));  // the width is 32; two layers: half of it
      CHECK(deviation == doctest::Approx(is_output ? small / 2 : small).epsilon(0.1));
    }
  }
}

TEST_CASE("a model runs on its parameters where they lie") {
  const ModelConfig config = small_config(0);  // tied
  Learning learning(*random_model(config, DType::BF16), DType::F32, 1);
  for (const Parameter& parameter : learning.parameters.all()) {
    CHECK(learning.parameters.of_address(parameter.weight.data) == &parameter);
    CHECK(learning.parameters.of_address(parameter.weight.data + n_bytes(parameter.weight) - 1) == &parameter);
  }
  CHECK(learning.parameters.of_address(learning.parameters.all()[0].gradient.data) == nullptr);
  CHECK(learning.model->weights().head.data == learning.parameters.named("token_embd.weight").weight.data);
  CHECK_THROWS_AS(learning.parameters.named("output.weight"), Error);
  const Texts texts({10}, config.vocab_size);
  const double before = learning.maker->loss(texts.samples, 9);
  Tensor norm = learning.parameters.named("output_norm.weight").weight;
  learning.backward->clear(norm);
  CHECK(learning.maker->loss(texts.samples, 9) != before);
  CHECK(learning.maker->loss(texts.samples, 9) == doctest::Approx(std::log(300.0)));

  ModelConfig other = config;
  other.d_ff += 8;
  Parameters misshapen(other, DType::F32);
  CHECK_THROWS_AS(misshapen.copy_weights(*random_model(config, DType::F32)), Error);
}

TEST_CASE("a batch in parts gives the gradient and the steps of the whole batch") {
  for (const int variant : {0, 5}) {
    for (const DType dtype : {DType::F32, DType::F64}) {
      const double tolerance = dtype == DType::F64 ? 1e-12 : 1e-6;
      const ModelConfig config = small_config(variant);
      const auto checkpoint = random_model(config, DType::F32);
      Learning whole(*checkpoint, dtype, 2), parts(*checkpoint, dtype, 2);
      const Texts texts({40, 7, 133, 2, 25}, config.vocab_size);  // unequal parts: their means would be wrong
      const double divisor = total_weight(texts.samples);
      AdamW whole_optimizer(whole.parameters, {}), parts_optimizer(parts.parameters, {});
      for (int step = 0; step < 3; ++step) {
        const double loss = whole.gradients(texts.samples);
        parts.parameters.clear_gradients(*parts.backward);
        double sum = 0;
        const std::span<const Sample> all = texts.samples;
        for (const auto& part : {all.subspan(0, 1), all.subspan(1, 3), all.subspan(4)}) {
          sum += parts.maker->add_gradients(part, divisor);
        }
        CHECK(sum == doctest::Approx(loss).epsilon(tolerance));
        const double norm = whole.parameters.gradient_norm(*whole.backward);
        CHECK(parts.parameters.gradient_norm(*parts.backward) == doctest::Approx(norm).epsilon(tolerance));
        const auto expected = whole.all_gradients(), found = parts.all_gradients();
        for (size_t i = 0; i < expected.size() && step == 0; ++i) {
          CHECK(distance(found[i], expected[i]) < tolerance * norm);
        }
        whole_optimizer.step(whole.parameters, *whole.backward, 1e-3);
        parts_optimizer.step(parts.parameters, *parts.backward, 1e-3);
      }
    }
  }
}

TEST_CASE("weight decay reaches matrices and embeddings, not norms and biases") {
  const ModelConfig config = small_config(5);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1);
  const auto check = [&](Optimizer& optimizer, double factor) {
    std::vector<std::vector<double>> before;
    for (const Parameter& parameter : learning.parameters.all()) before.push_back(numbers(parameter.weight));
    optimizer.step(learning.parameters, *learning.backward, 0.1);  // all gradients are 0
    for (size_t i = 0; i < before.size(); ++i) {
      const Tensor& weight = learning.parameters.all()[i].weight;
      CAPTURE(weight.name);
      for (double& value : before[i]) value *= weight.n_dims > 1 ? factor : 1;
      CHECK(largest_difference(numbers(weight), before[i]) < 1e-6);
    }
  };
  AdamW adamw(learning.parameters, {.weight_decay = 0.5});
  check(adamw, 0.95);
  Sgd sgd(learning.parameters, {.momentum = 0, .weight_decay = 0.5});
  check(sgd, 0.95);
  Muon muon(learning.parameters, {.others = {.weight_decay = 0.5}});
  check(muon, 0.95);
}

TEST_CASE("gradients are clipped to a length, whole") {
  const ModelConfig config = small_config(0);
  Learning learning(*random_model(config, DType::F32), DType::F32, 2);
  const Texts texts({30}, config.vocab_size);
  learning.gradients(texts.samples);
  const double norm = learning.parameters.gradient_norm(*learning.backward);
  const auto before = learning.all_gradients();
  CHECK(learning.parameters.clip_gradients(*learning.backward, 2 * norm) == norm);
  CHECK(learning.all_gradients() == before);
  CHECK(learning.parameters.clip_gradients(*learning.backward, norm / 2) == norm);
  CHECK(learning.parameters.gradient_norm(*learning.backward) == doctest::Approx(norm / 2).epsilon(1e-5));
  const auto after = learning.all_gradients();
  for (size_t i = 0; i < after.size(); ++i) {
    for (size_t j = 0; j < after[i].size(); j += 7)
      CHECK(after[i][j] == doctest::Approx(before[i][j] / 2).epsilon(1e-5));
  }
}

TEST_CASE("an optimizer goes on from its saved state as if there had been no break") {
  const ModelConfig config = small_config(1);
  const auto checkpoint = random_model(config, DType::F32);
  const Texts texts({30, 12}, config.vocab_size);
  const auto make = [](int kind, const Parameters& parameters) -> std::unique_ptr<Optimizer> {
    if (kind == 0) return std::make_unique<AdamW>(parameters, AdamWSettings{});
    if (kind == 1) return std::make_unique<Sgd>(parameters, SgdSettings{});
    return std::make_unique<Muon>(parameters, MuonSettings{});
  };
  for (const int kind : {0, 1, 2}) {
    Learning first(*checkpoint, DType::F32, 1);
    const auto optimizer = make(kind, first.parameters);
    CHECK(std::string(optimizer->state()[0].name) ==
          (kind == 1 ? "token_embd.weight.momentum" : "token_embd.weight.mean"));
    const auto step = [&](Learning& learning, Optimizer& by) {
      const double loss = learning.gradients(texts.samples);
      by.step(learning.parameters, *learning.backward, 1e-2);
      return loss;
    };
    const double start = step(first, *optimizer);
    step(first, *optimizer);
    Learning second(first.parameters.checkpoint(config), DType::F32, 1);
    const auto resumed = make(kind, second.parameters);
    for (size_t i = 0; i < optimizer->state().size(); ++i) {
      std::memcpy(resumed->state()[i].data, optimizer->state()[i].data, n_bytes(optimizer->state()[i]));
    }
    resumed->resume_at(optimizer->steps_taken());
    for (int i = 0; i < 3; ++i) CHECK(step(first, *optimizer) == step(second, *resumed));
    CHECK(resumed->steps_taken() == 5);
    CHECK(step(first, *optimizer) < start);  // and it learns
  }
}

TEST_CASE("the learning rate goes up in a line and down along a cosine") {
  const Schedule schedule = {.highest = 1, .lowest = 0.1, .warmup_steps = 4, .total_steps = 24};
  CHECK(schedule.rate(0) == doctest::Approx(0.25));
  CHECK(schedule.rate(3) == doctest::Approx(1));
  CHECK(schedule.rate(4) == doctest::Approx(1));
  CHECK(schedule.rate(9) == doctest::Approx(0.1 + 0.45 * (1 + std::sqrt(0.5))));  // a quarter: cos(pi / 4)
  CHECK(schedule.rate(14) == doctest::Approx(0.55));
  CHECK(schedule.rate(24) == doctest::Approx(0.1));
  CHECK(schedule.rate(1000) == doctest::Approx(0.1));
  for (int step = 4; step < 24; ++step) CHECK(schedule.rate(step + 1) < schedule.rate(step));
  CHECK(Schedule{.highest = 1, .lowest = 1, .warmup_steps = 0, .total_steps = 10}.rate(0) == 1);
}

TEST_CASE("samples with wrong weights are refused") {
  const ModelConfig config = small_config(0);
  Learning learning(*random_model(config, DType::F32), DType::F32, 1);
  const std::vector<TokenId> tokens = {1, 2, 3};
  const std::vector<float> weights = {1, 1, 1};
  const Sample sample = {tokens, weights};
  CHECK_THROWS_AS(learning.maker->add_gradients(std::span(&sample, 1), 1), Error);
  CHECK_THROWS_AS(learning.maker->add_gradients({}, 1), Error);
}
