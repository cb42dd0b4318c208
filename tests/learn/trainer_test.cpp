#include "learn/trainer.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "learn/small_training.h"
#include "learn/training_memory.h"
#include "learn/training_state.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

using Run = SmallTraining;

TEST_CASE("trainer: a batch in several calls gives the gradient of the batch in one") {
  TrainingSettings settings = small_settings();
  settings.optimizer = OptimizerKind::sgd;
  settings.momentum = settings.weight_decay = settings.clip = settings.warmup_steps = 0;
  settings.rate = 1;  // so the change of the weights is the gradient
  for (const DType dtype : {DType::F32, DType::F64}) {
    Run whole(settings, dtype);
    const auto before = whole.weights();
    const StepReport report = whole.trainer->step();
    for (const int64_t tokens : {1, 17, 40}) {
      TrainingSettings cut = settings;
      cut.tokens_per_call = tokens;
      Run parts(cut, dtype);
      const StepReport same = parts.trainer->step();
      const double tolerance = dtype == DType::F64 ? 1e-12 : 1e-6;
      CHECK(same.loss == doctest::Approx(report.loss).epsilon(tolerance));
      CHECK(same.tokens == report.tokens);
      const auto a = whole.weights(), b = parts.weights();
      for (size_t i = 0; i < a.size(); ++i) CHECK(distance(a[i], b[i]) <= tolerance * (1 + length(a[i])));
      CHECK(distance(a[0], before[0]) > 1e-4);  // there was something to compare
    }
  }
}

TEST_CASE("trainer: a step reports the mean loss of its tokens, and the rate of the schedule") {
  TrainingSettings settings = small_settings();
  settings.context = 100;
  settings.tokens_per_step = 50'000;  // many epochs
  settings.tokens_per_call = 50;
  settings.rate = 0.3;
  settings.lowest_rate = 0.1;
  Run run(settings);
  const double mean = run.trainer->loss(run.data->pieces(settings.context));
  // A batch is many epochs, in which every document comes equally often, but for the last.
  std::vector<double> losses, weights;
  for (const Sample& sample : run.data->pieces(settings.context)) {
    losses.push_back(run.trainer->loss(std::span(&sample, 1)));
    weights.push_back(static_cast<double>(sample.tokens.size() - 1));
  }
  double sum = 0, tokens = 0;
  for (size_t i = 0; i < losses.size(); ++i) sum += weights[i] * losses[i], tokens += weights[i];
  CHECK(mean == doctest::Approx(sum / tokens).epsilon(1e-6));
  CHECK(tokens == static_cast<double>(run.data->guesses()));

  // The first batch, sample by sample: its loss is the sum divided by its tokens, no more and no less.
  Packer packer(*run.data, settings.context, 300, settings.seed);
  settings.tokens_per_step = 300;
  Run small(settings);
  double batch_sum = 0, batch_tokens = 0;
  for (const Sample& sample : packer.next()) {
    const auto guesses = static_cast<double>(sample.tokens.size() - 1);
    batch_sum += guesses * small.trainer->loss(std::span(&sample, 1));
    batch_tokens += guesses;
  }
  CHECK(small.trainer->step().loss == doctest::Approx(batch_sum / batch_tokens).epsilon(1e-5));

  const StepReport first = run.trainer->step();
  CHECK(first.loss == doctest::Approx(mean).epsilon(2e-3));
  CHECK(first.rate == doctest::Approx(0.1));  // a third of the way up
  CHECK(run.trainer->step().rate == doctest::Approx(0.2));
  CHECK(run.trainer->step().rate == doctest::Approx(0.3));
  CHECK(run.trainer->step().rate == doctest::Approx(0.3));  // the cosine begins here
  CHECK(run.trainer->step().rate < 0.3);
}

TEST_CASE("trainer: a saved run goes on with the same losses, to the last bit") {
  const TemporaryFolder folder;
  for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::muon}) {
    TrainingSettings settings = small_settings();
    settings.optimizer = optimizer;
    settings.rate = 1e-2;
    settings.tokens_per_call = 30;
    settings.dropout = 0.2;
    Run run(settings);
    for (int i = 0; i < 7; ++i) run.trainer->step();
    run.trainer->save(folder / "state.gguf", run.checkpoint);

    Run resumed(settings);
    resumed.trainer->resume(folder / "state.gguf");
    CHECK(resumed.trainer->steps_taken() == 7);
    for (int i = 0; i < 9; ++i) {
      const StepReport a = run.trainer->step(), b = resumed.trainer->step();
      CHECK(a.step == b.step);
      CHECK(a.loss == b.loss);
      CHECK(a.gradient_norm == b.gradient_norm);
      CHECK(a.rate == b.rate);
    }
    CHECK(run.weights() == resumed.weights());
  }
}

TEST_CASE("trainer: a saved run also is a model") {
  const TemporaryFolder folder;
  Run run(small_settings());
  run.trainer->step();
  run.trainer->save(folder / "state.gguf", run.checkpoint);
  const auto checkpoint = std::make_shared<const Checkpoint>(load_checkpoint(folder / "state.gguf"));
  Transformer model(checkpoint);
  const std::vector<TokenId> ids = {1, 3, 4, 5};
  CHECK(uncached_logits(model, *run.learning->forward, ids) ==
        uncached_logits(*run.learning->model, *run.learning->forward, ids));
  CHECK(checkpoint->vocabulary.pieces.size() == run.checkpoint.vocabulary.pieces.size());
}

TEST_CASE("trainer: another run is not resumed") {
  const TemporaryFolder folder;
  const std::string state = folder / "state.gguf";
  Run run(small_settings());
  run.trainer->step();
  run.trainer->save(state, run.checkpoint);
  TrainingSettings other = small_settings();
  other.seed = 10;
  Run different(other);
  CHECK_ERROR(different.trainer->resume(state), "state.gguf", "other settings", "seed 9", "seed 10");
  other = small_settings();
  other.optimizer = OptimizerKind::sgd;
  Run sgd(other);
  CHECK_ERROR(sgd.trainer->resume(state), "other settings", "SGD");

  const std::string model = data_file("tiny-models/gguf/valid_base.gguf");
  CHECK_ERROR(run.trainer->resume(model), "no training to resume", "orrery.training.step");
  CHECK_ERROR(run.trainer->resume(folder / "none.gguf"), "none.gguf");
  const std::string bytes = file_bytes(state);
  const std::string cut = write_file(folder / "cut.gguf", bytes.substr(0, bytes.size() - 100));
  CHECK_ERROR(run.trainer->resume(cut), "cut.gguf");

  Run smaller(small_settings());
  ModelConfig config = small_config(0);
  config.vocab_size = smaller.checkpoint.config.vocab_size;
  config.n_layers = 1;
  Learning one_layer(*random_model(config, DType::F32), DType::F32, 1);
  Sgd optimizer(one_layer.parameters, {});
  const SavedTraining saved = read_training_state(state);
  CHECK_ERROR(restore(saved, one_layer.parameters, optimizer), "optimizer.token_embd.weight.momentum", "nothing");
}

TEST_CASE("trainer: a number that is not finite stops the run and names the first tensor that has one") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
    Run run(small_settings());
    values<float>(run.weight("blk.1.ffn_down.weight"))[5] = static_cast<float>(value);
    CHECK_ERROR(run.trainer->step(), "the loss is not finite any more", "tensor blk.1.ffn_down.weight, element 5");
  }
  Run run(small_settings());
  const Tensor largest = run.weight("output_norm.weight");
  for (int64_t i = 0; i < n_elements(largest); ++i) values<float>(largest)[i] = 3e38f;  // normed values reach 2
  const auto before = run.weights();
  CHECK_ERROR(run.trainer->step(), "the loss is not finite any more", "tensor final_norm, element");
  CHECK(run.weights() == before);

  // Everything is finite on the way forward: a tiny gain makes up for huge weights. Not so on the way back.
  Run steep(small_settings());
  const auto scale = [&](const char* name, float factor) {
    const Tensor tensor = steep.weight(name);
    for (int64_t i = 0; i < n_elements(tensor); ++i) values<float>(tensor)[i] *= factor;
  };
  scale("blk.0.ffn_norm.weight", 1e-37f);
  scale("blk.0.ffn_gate.weight", 1e37f);
  scale("blk.0.ffn_up.weight", 1e37f);
  scale("output_norm.weight", 1e7f);
  CHECK_ERROR(steep.trainer->step(), "a gradient is not finite any more", "tensor blk.0.ffn_norm.grad, element");
}

TEST_CASE("trainer: the same seed gives the same run, for any number of threads") {
  TrainingSettings settings = small_settings();
  settings.dropout = 0.1;
  Run one(settings, DType::F32, 1), two(settings, DType::F32, 2), three(settings, DType::F32, 3);
  settings.seed = 10;
  Run other(settings);
  for (int i = 0; i < 5; ++i) {
    const double loss = one.trainer->step().loss;
    CHECK(two.trainer->step().loss == loss);
    CHECK(three.trainer->step().loss == loss);
    CHECK(other.trainer->step().loss != loss);
  }
}

TEST_CASE("trainer: learns a text by heart, with every optimizer and every way to save memory") {
  for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::muon}) {
    TrainingSettings settings = small_settings();
    settings.optimizer = optimizer;
    settings.rate = optimizer == OptimizerKind::sgd ? 0.5 : 1e-2;
    settings.tokens_per_call = 40;
    settings.activations = Activations::compute;
    settings.weight_decay = 0;
    settings.steps = 200;
    Run run(settings);
    const std::vector<Sample> all = run.data->pieces(settings.context);
    const double before = run.trainer->loss(all);
    double last = 0;
    for (int i = 0; i < 200; ++i) last = run.trainer->step().loss;
    CHECK(before > std::log(8.0));
    CHECK(last < 0.8 * before);
    CHECK(run.trainer->loss(all) < 0.8 * before);
  }
}

TEST_CASE("trainer: takes the memory that the config predicts, and no more after many steps") {
  for (const Activations activations : {Activations::keep, Activations::compute}) {
    TrainingSettings settings = small_settings();
    settings.activations = activations;
    Run run(settings);
    for (int i = 0; i < 100; ++i) run.trainer->step();
    const uint64_t after_100 = run.trainer->memory_bytes();
    for (int i = 0; i < 100; ++i) run.trainer->step();
    CHECK(run.trainer->memory_bytes() == after_100);
    const TrainingMemory predicted =
        training_memory(run.checkpoint.config, settings.tokens_per_call, settings.activations);
    CHECK(static_cast<double>(after_100) < 1.05 * static_cast<double>(predicted.total()));
    CHECK(static_cast<double>(after_100) > 0.8 * static_cast<double>(predicted.total()));
  }
}

TEST_CASE("trainer: dropout leaves out something else in every step, and the same where activations are made again") {
  TrainingSettings settings = small_settings();
  settings.context = 100;
  settings.tokens_per_step = 1;  // a document at a time
  settings.rate = settings.lowest_rate = 0;
  for (const double share : {0.0, 0.3}) {
    settings.dropout = share;
    Run run(settings);
    const TokenData one(std::span(run.views).first(1), *make_tokenizer(run.checkpoint.vocabulary, "test"));
    Trainer trainer(*run.learning->model, *run.learning->forward, *run.learning->backward, run.learning->parameters,
                    one, settings);
    const double first = trainer.step().loss, second = trainer.step().loss;
    CHECK((first == second) == (share == 0));
  }

  settings = small_settings();
  settings.dropout = 0.3;
  Run keeps(settings);
  settings.activations = Activations::compute;
  Run computes(settings);
  for (int i = 0; i < 4; ++i) CHECK(keeps.trainer->step().loss == computes.trainer->step().loss);
  CHECK(keeps.weights() == computes.weights());
}

TEST_CASE("trainer: evaluation does not depend on dropout, on the cut into calls, or on being asked before") {
  TrainingSettings settings = small_settings();
  Run plain(settings);
  settings.dropout = 0.5;
  settings.tokens_per_call = 13;
  Run dropping(settings);
  const auto samples = plain.data->pieces(settings.context);
  const double loss = plain.trainer->loss(samples);
  CHECK(dropping.trainer->loss(dropping.data->pieces(settings.context)) == doctest::Approx(loss).epsilon(1e-6));
  CHECK(plain.trainer->loss(samples) == loss);
  CHECK(std::isnan(plain.trainer->loss(samples, [] { return false; })));
}

TEST_CASE("trainer: settings that make no sense are named") {
  const auto refused = [](auto change, const char* name) {
    TrainingSettings settings = small_settings();
    change(settings);
    CHECK_ERROR(check(settings), name, "makes no sense");
  };
  refused([](TrainingSettings& s) { s.steps = 0; }, "steps");
  refused([](TrainingSettings& s) { s.context = 0; }, "context");
  refused([](TrainingSettings& s) { s.tokens_per_call = 0; }, "tokens per call");
  refused([](TrainingSettings& s) { s.rate = -1; }, "learning rate");
  refused([](TrainingSettings& s) { s.rate = std::numeric_limits<double>::quiet_NaN(); }, "learning rate");
  refused([](TrainingSettings& s) { s.beta2 = 1; }, "beta2");
  refused([](TrainingSettings& s) { s.dropout = 1; }, "dropout");
}
