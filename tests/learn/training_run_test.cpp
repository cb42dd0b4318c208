#include "learn/training_run.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "learn/small_training.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

RunResult run_until(SmallTraining& training, const RunSettings& settings, int64_t last, bool resumes,
                    std::vector<RunReport>& reports) {
  TrainingRun run(*training.trainer, training.checkpoint, training.data.get(), settings);
  if (resumes) run.resume();
  return run.run([&](const RunReport& report) { reports.push_back(report); },
                 [&] { return training.trainer->steps_taken() < last; });
}

}  // namespace

TEST_CASE("training run: a run that is stopped and resumed is the run that was not stopped") {
  const TemporaryFolder folder;
  const RunSettings whole_run{.output = folder / "whole.gguf", .save_every = 4};
  const RunSettings parts_run{.output = folder / "parts.gguf", .save_every = 4};
  SmallTraining whole(small_settings()), first(small_settings()), second(small_settings());
  std::vector<RunReport> all, parts;
  const RunResult result = run_until(whole, whole_run, 1000, false, all);
  CHECK(result.is_finished);
  CHECK_FALSE(run_until(first, parts_run, 7, false, parts).is_finished);
  CHECK(parts.size() == 7);
  const RunResult resumed = run_until(second, parts_run, 1000, true, parts);
  CHECK(resumed.is_finished);
  CHECK(resumed.best_step == result.best_step);
  CHECK(resumed.validation_loss == result.validation_loss);

  REQUIRE(all.size() == 20);
  REQUIRE(parts.size() == 20);
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].step.loss == parts[i].step.loss);
    CHECK(all[i].is_saved == ((i + 1) % 4 == 0));
    CHECK(std::isfinite(all[i].validation_loss) == all[i].is_saved);
  }
  CHECK(file_bytes(folder / "whole.gguf").size() == file_bytes(folder / "parts.gguf").size());
  CHECK(whole.weights() == second.weights());
  const auto log = read_log(folder / "parts.csv", 1000);
  CHECK(log.size() == 20);
  CHECK(std::isfinite(log[6].validation_loss));  // measured where it was stopped
}

TEST_CASE("training run: the model in the file is the one with the lowest validation loss") {
  const TemporaryFolder folder;
  TrainingSettings settings = small_settings();
  settings.optimizer = OptimizerKind::sgd;
  settings.rate = settings.lowest_rate = 0.2;
  SmallTraining training(settings);
  const RunSettings run_settings{.output = folder / "m.gguf", .save_every = 1};
  TrainingRun run(*training.trainer, training.checkpoint, training.data.get(), run_settings);
  std::vector<RunReport> reports;
  const RunResult result = run.run(
      [&](const RunReport& report) {
        reports.push_back(report);
        if (report.step.step != 10) return;
        // From here on nothing can be learned any more.
        const Tensor gain = training.weight("output_norm.weight");
        for (int64_t i = 0; i < n_elements(gain); ++i) values<float>(gain)[i] *= 50;
      },
      [&] { return training.trainer->steps_taken() < 14; });
  CHECK(reports.back().validation_loss > reports[9].validation_loss);
  CHECK(result.best_step <= 10);

  const auto checkpoint = std::make_shared<const Checkpoint>(load_checkpoint(folder / "m.gguf"));
  Transformer model(checkpoint);
  GradientMaker maker(model, *training.learning->forward, *training.learning->backward, training.learning->parameters);
  const auto samples = training.data->pieces(settings.context);
  CHECK(maker.loss(samples, total_weight(samples)) == doctest::Approx(result.validation_loss).epsilon(1e-6));
}

TEST_CASE("training run: names of the files, leftovers of a killed run, and a folder that is not there") {
  const RunFiles files = run_files("a.b/model.v2.gguf");
  CHECK(files.model == "a.b/model.v2.gguf");
  CHECK(files.state == "a.b/model.v2.state.gguf");
  CHECK(files.log == "a.b/model.v2.csv");
  CHECK(files.figure == "a.b/model.v2.png");
  CHECK(run_files("plain").state == "plain.state.gguf");

  const TemporaryFolder folder;
  const std::string leftover = write_file(folder / "m.state.gguf.unfinished.4194305", "half");  // above any process
  const std::string other = write_file(folder / "x.gguf.unfinished.4194305", "not ours");
  SmallTraining training(small_settings());
  std::vector<RunReport> reports;
  run_until(training, {.output = folder / "m.gguf"}, 1, false, reports);
  CHECK_FALSE(std::filesystem::exists(leftover));
  CHECK(std::filesystem::exists(other));

  const RunSettings nowhere{.output = folder / "none/m.gguf", .save_every = 1};
  CHECK_ERROR(run_until(training, nowhere, 100, false, reports), "none/m.");
}

namespace {

// When a file was last put in its place; nothing where it is not there.
std::optional<std::filesystem::file_time_type> time_of(const std::string& path) {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(path, missing);
  if (missing) return {};
  return time;
}

}  // namespace

TEST_CASE("training run: killed at any moment, it leaves a state that loads") {
  const TemporaryFolder folder;
  const RunSettings settings{.output = folder / "m.gguf", .save_every = 1};
  const std::string state = folder / "m.state.gguf";
  TrainingSettings training_settings = small_settings();
  training_settings.steps = 1'000'000;
  Random random(1);
  int64_t furthest = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    CAPTURE(kill_number);
    const auto before = time_of(state);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {  // saves all the time, until it is killed
      SmallTraining training(training_settings);
      TrainingRun run(*training.trainer, training.checkpoint, training.data.get(), settings);
      if (before) run.resume();
      run.run([](const RunReport&) {});
      _exit(0);
    }
    // Once it has saved for the first time, it is about to save again, whatever moment we choose.
    for (int i = 0; i < 60'000 && time_of(state) == before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(20'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));

    SmallTraining training(training_settings);
    TrainingRun run(*training.trainer, training.checkpoint, training.data.get(), settings);
    run.resume();  // throws where a file is broken, or where they do not fit each other
    CHECK(training.trainer->steps_taken() > furthest);
    CHECK(static_cast<int64_t>(run.history().size()) == training.trainer->steps_taken());
    furthest = training.trainer->steps_taken();
    CHECK_NOTHROW(load_checkpoint(folder / "m.gguf"));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.path().string().find("unfinished") == std::string::npos);
  }
}
