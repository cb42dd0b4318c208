// Encoder-decoders: their gradients, and that it does not matter how a target is cut into calls.
#include <cmath>
#include <memory>

#include <doctest/doctest.h>

#include "base/error.h"
#include "compare/encoder.h"
#include "compare/sequence_decoding.h"
#include "compare/sequence_learning.h"
#include "learn/learner.h"
#include "learn/optimizer.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const SequenceTask& small_task() {
  static const std::unique_ptr<SequenceTask> kTask = reverse_task(4, 7);
  return *kTask;
}

SequencePlan small_plan(SequenceKind kind) {
  SequencePlan plan = plan_of(kind, small_task(), 1500);
  if (kind == SequenceKind::transformer) {
    plan.transformer.d_model = 8;
    plan.transformer.d_ff = 12;
  } else {
    plan.recurrent.d_hidden = 7;
  }
  return plan;
}

SequenceBatch small_batch(uint64_t seed = 1) {
  Random random(seed);
  return batch_of(small_task(), random_pairs(small_task(), 4, 1, 7, random));
}

std::vector<Row> rows_of(const std::vector<TokenId>& target) {
  std::vector<Row> rows;
  for (size_t i = 0; i + 1 < target.size(); ++i) rows.push_back({.token = target[i], .position = int(i)});
  return rows;
}

// Logits of one target alone, in one call.
std::vector<double> logits_alone(SequenceLearner& learner, const std::vector<TokenId>& source,
                                 const std::vector<TokenId>& target) {
  Arena arena;
  const Encoded encoded = learner.model().encode(std::span(&source, 1), learner.kernels(), arena);
  const int source_of[] = {0};
  return numbers(learner.model().decode(encoded, rows_of(target), source_of, learner.kernels(), arena));
}

}  // namespace

TEST_CASE("compare: gradients of encoder-decoders agree with finite differences") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    SequenceLearner learner(small_plan(kind), DType::F64, Threads(1), 3);
    const SequenceBatch batch = small_batch();
    learner.parameters().clear_gradients(learner.backward_kernels());
    CHECK(learner.add_gradients(batch) == learner.loss(batch));
    Random random(1);
    for (const Parameter& parameter : learner.parameters().all()) {
      CAPTURE(parameter.weight.name);
      double largest = 0;
      for (const double value : numbers(parameter.gradient)) largest = std::max(largest, std::abs(value));
      CHECK(largest > 1e-9);  // every weight has a part in the loss
      for (int tried = 0; tried < 3; ++tried) {
        const auto i = int64_t(random.below(uint64_t(n_elements(parameter.weight))));
        double& weight = values<double>(parameter.weight)[i];
        const double before = weight;
        constexpr double kStep = 1e-5;
        weight = before + kStep;
        const double above = learner.loss(batch);
        weight = before - kStep;
        const double below = learner.loss(batch);
        weight = before;
        CHECK(std::abs(values<double>(parameter.gradient)[i] - (above - below) / (2 * kStep)) < 1e-8);
      }
    }
  }
}

TEST_CASE("compare: fast gradients of encoder-decoders agree with double precision, for any number of threads") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    SequenceLearner exact(small_plan(kind), DType::F64, Threads(1), 3);
    SequenceLearner fast(small_plan(kind), DType::F32, Threads(1), 3),
        other(small_plan(kind), DType::F32, Threads(3), 3);
    const SequenceBatch batch = small_batch();
    const double loss = exact.add_gradients(batch);
    CHECK(fast.add_gradients(batch) == doctest::Approx(loss).epsilon(1e-5));
    other.add_gradients(batch);
    for (size_t i = 0; i < fast.parameters().all().size(); ++i) {
      CAPTURE(fast.parameters().all()[i].weight.name);
      const auto expected = numbers(exact.parameters().all()[i].gradient);
      const auto found = numbers(fast.parameters().all()[i].gradient);
      CHECK(largest_difference(found, expected) < 1e-5);
      CHECK(numbers(other.parameters().all()[i].gradient) == found);
    }
  }
}

TEST_CASE("compare: together, alone and token by token give the same logits") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    SequenceLearner learner(small_plan(kind), DType::F64, Threads(1), 5);
    SequenceModel& model = learner.model();
    const SequenceBatch batch = small_batch(2);
    std::vector<Row> rows;
    std::vector<int> source_of;
    std::vector<double> expected;
    // Targets in another order than their sources, and one source for two of them.
    for (const size_t i : {2, 0, 3, 0}) {
      source_of.push_back(int(i));
      for (const Row& row : rows_of(batch.targets[i])) rows.push_back(row);
      const auto alone = logits_alone(learner, batch.sources[i], batch.targets[i]);
      expected.insert(expected.end(), alone.begin(), alone.end());
    }
    Arena arena;
    const Encoded encoded = model.encode(batch.sources, learner.kernels(), arena);
    const auto together = numbers(model.decode(encoded, rows, source_of, learner.kernels(), arena));
    CHECK(largest_difference(together, expected) < 1e-12);

    // Now with a state: one row, then a fork that takes two, and in the fork's shadow the original goes on.
    const std::vector<TokenId>& target = batch.targets[2];
    const auto alone = logits_alone(learner, batch.sources[2], target);
    const auto state = model.new_target();
    std::vector<double> found;
    const int two[] = {2};
    for (size_t i = 0; i + 1 < target.size(); ++i) {
      const auto fork = state->fork();
      const Row astray = {.token = 3, .position = int(i), .state = fork.get()};
      model.decode(encoded, std::span(&astray, 1), two, learner.kernels(), arena);
      const Row row = {.token = target[i], .position = int(i), .state = state.get()};
      const auto one = numbers(model.decode(encoded, std::span(&row, 1), two, learner.kernels(), arena));
      found.insert(found.end(), one.begin(), one.end());
    }
    CHECK(state->length() == int(target.size()) - 1);
    CHECK(largest_difference(found, alone) < 1e-12);
  }
}

TEST_CASE("compare: a row knows all of the source and nothing of the target to come") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    SequenceLearner learner(small_plan(kind), DType::F64, Threads(1), 7);
    const std::vector<TokenId> source = {2, 3, 4, 5, Alphabet::kEnd}, target = {Alphabet::kBegin, 2, 3, Alphabet::kEnd};
    const auto logits = logits_alone(learner, source, target);
    const size_t vocab = logits.size() / 3;
    for (size_t changed = 0; changed < source.size(); ++changed) {
      std::vector<TokenId> other = source;
      other[changed] = other[changed] == 2 ? 3 : 2;
      const auto first = logits_alone(learner, other, target);
      CHECK(largest_difference(std::span(first).first(vocab), std::span(logits).first(vocab)) > 1e-9);
    }
    std::vector<TokenId> other = target;
    other[2] = 5;
    const auto changed = logits_alone(learner, source, other);
    CHECK(largest_difference(std::span(changed).first(2 * vocab), std::span(logits).first(2 * vocab)) == 0);
    CHECK(largest_difference(changed, logits) > 1e-9);
  }
}

TEST_CASE("compare: both directions of a recurrent encoder stand at the row that they have read up to") {
  for (const bool is_forward : {true, false}) {
    CAPTURE(is_forward);
    SequenceLearner learner(small_plan(SequenceKind::gru_dot), DType::F64, Threads(1), 7);
    // Keys from one direction alone.
    const Tensor other = learner.parameters()
                             .named(is_forward ? "attention.key.backward.weight" : "attention.key.forward.weight")
                             .weight;
    for (int64_t i = 0; i < n_elements(other); ++i) values<double>(other)[i] = 0;
    const auto keys = [&](const std::vector<TokenId>& source) {
      Arena arena;
      const std::vector<std::vector<TokenId>> sources = {{2, 3}, source};
      return numbers(slice_rows(learner.model().encode(sources, learner.kernels(), arena).keys[0], 2, 4));
    };
    const std::vector<double> before = keys({2, 3, 4, 5});
    const size_t width = before.size() / 4;
    for (size_t changed = 0; changed < 4; ++changed) {
      std::vector<TokenId> source = {2, 3, 4, 5};
      source[changed] = 1;
      const std::vector<double> after = keys(source);
      for (size_t row = 0; row < 4; ++row) {
        const double difference = largest_difference(std::span(after).subspan(row * width, width),
                                                     std::span(before).subspan(row * width, width));
        const bool has_read_it = is_forward ? row >= changed : row <= changed;
        CHECK((difference > 1e-9) == has_read_it);
      }
    }
  }
}

TEST_CASE("compare: encoder-decoders refuse what makes no sense") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    SequenceLearner learner(small_plan(kind), DType::F32, Threads(1), 1);
    SequenceModel& model = learner.model();
    Kernels& kernels = learner.kernels();
    Arena arena;
    const std::vector<std::vector<TokenId>> empty = {{2}, {}}, unknown = {{99}}, good = {{2, 3}};
    CHECK_THROWS_AS(model.encode(empty, kernels, arena), Error);
    CHECK_THROWS_AS(model.encode(unknown, kernels, arena), Error);
    const Encoded encoded = model.encode(good, kernels, arena);
    const Row row = {.token = Alphabet::kBegin, .position = 0};
    const int none[] = {1}, two[] = {0, 0};
    CHECK_THROWS_AS(model.decode(encoded, std::span(&row, 1), none, kernels, arena), Error);
    CHECK_THROWS_AS(model.decode(encoded, std::span(&row, 1), two, kernels, arena), Error);
    CHECK_THROWS_AS(model.decode(encoded, std::span(&row, 1), {}, kernels, arena), Error);
    // A state of the other family.
    const SequenceKind other_kind = kind == SequenceKind::transformer ? SequenceKind::gru : SequenceKind::transformer;
    SequenceLearner other(small_plan(other_kind), DType::F32, Threads(1), 1);
    const auto state = other.model().new_target();
    const Row foreign = {.token = Alphabet::kBegin, .position = 0, .state = state.get()};
    CHECK_THROWS_AS(model.decode(encoded, std::span(&foreign, 1), std::span(two).first(1), kernels, arena), Error);
  }
}

TEST_CASE("compare: plans have about the wanted number of parameters, and exactly the one they say") {
  for (const std::string& name : sequence_task_names()) {
    const auto task = sequence_task(name);
    for (const SequenceKind kind : all_sequence_kinds()) {
      CAPTURE(name_of(kind));
      const SequencePlan plan = plan_of(kind, *task, 60000);
      CHECK(std::abs(double(plan.parameters()) / 60000 - 1) < 0.06);
      CHECK(SequenceLearner(plan, DType::F32, Threads(1), 1).parameters().count() == plan.parameters());
    }
  }
}

TEST_CASE("compare: an encoder sees what stands behind a row, and learns to say what a sequence is") {
  // What is asked: do the first and the last letter agree? The question stands in the middle, so that a model which
  // only looks back cannot know.
  constexpr TokenId kQuestion = 4, kNo = 5, kYes = 6;
  ModelConfig config = llama_config({.n_layers = 2, .d_model = 16, .n_heads = 2, .vocab_size = 7, .context_length = 8});
  config.positions = Positions::learned;
  Learner learner(config, DType::F64, Threads(1), 1);
  EncoderTransformer encoder(std::make_shared<const Checkpoint>(learner.parameters.checkpoint(config)));
  Arena arena;
  const auto logits = [&](LanguageModel& model, const std::vector<TokenId>& text) {
    std::vector<Row> rows;
    for (size_t i = 0; i < text.size(); ++i) {
      rows.push_back({.token = text[i], .position = int(i), .wants_logits = text[i] == kQuestion});
    }
    arena.reset();
    return numbers(model.forward(rows, *learner.forward, arena));
  };
  const auto a = logits(encoder, {1, 2, kQuestion, 3, 0}), b = logits(encoder, {1, 2, kQuestion, 3, 1});
  CHECK(a.size() == 7);
  CHECK(largest_difference(a, b) > 1e-9);
  CHECK(logits(*learner.model, {1, 2, kQuestion, 3, 0}) == logits(*learner.model, {1, 2, kQuestion, 3, 1}));

  Tape tape(*learner.forward, *learner.backward, learner.parameters);
  AdamW optimizer(learner.parameters, {.weight_decay = 0});
  Arena kept(true);
  Random random(2);
  const auto questions = [&](int count, std::vector<Row>& rows, std::vector<TokenId>& answers) {
    for (int i = 0; i < count; ++i) {
      TokenId text[] = {TokenId(random.below(4)), TokenId(random.below(4)), kQuestion, TokenId(random.below(4)), 0};
      text[4] = random.below(2) == 0 ? text[0] : TokenId(random.below(4));
      for (int j = 0; j < 5; ++j) rows.push_back({.token = text[j], .position = j, .wants_logits = j == 2});
      answers.push_back(text[0] == text[4] ? kYes : kNo);
    }
  };
  for (int step = 0; step < 150; ++step) {
    std::vector<Row> rows;
    std::vector<TokenId> answers;
    questions(16, rows, answers);
    learner.parameters.clear_gradients(*learner.backward);
    tape.clear();
    kept.reset();
    std::vector<double> losses(answers.size()), dlosses(answers.size(), 1.0 / 16);
    tape.cross_entropy(encoder.forward(rows, tape, kept), answers, losses);
    tape.backward(dlosses);
    learner.parameters.clip_gradients(*learner.backward, 1);
    optimizer.step(learner.parameters, *learner.backward, 1e-2);
  }
  std::vector<Row> rows;
  std::vector<TokenId> answers;
  questions(100, rows, answers);
  arena.reset();
  const auto found = numbers(encoder.forward(rows, *learner.forward, arena));
  int right = 0;
  for (size_t i = 0; i < answers.size(); ++i)
    right += (found[7 * i + kYes] > found[7 * i + kNo]) == (answers[i] == kYes);
  CHECK(right >= 95);

  const auto state = learner.model->new_sequence();
  const Row with_state = {.token = 1, .position = 0, .state = state.get()};
  CHECK_THROWS_AS(encoder.encode(std::span(&with_state, 1), *learner.forward, arena), Error);
}
