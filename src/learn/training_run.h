// A whole training run: steps until all are done, the validation loss and the files every now and then.
//
// For the output DIR/NAME.gguf there are, each written whole or not at all:
//   NAME.gguf        the model with the lowest validation loss so far (without validation: the latest)
//   NAME.state.gguf  the run as it stands, to be resumed
//   NAME.csv         its history
//   NAME.png         the loss curve
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "learn/trainer.h"
#include "learn/training_log.h"
#include "plot/line_figure.h"
#include "tensor/dtype.h"

namespace orrery {

struct RunFiles {
  std::string model, state, log, figure;
};
RunFiles run_files(const std::string& output);

struct RunSettings {
  std::string output = "model.gguf";
  DType type = DType::F32;            // of the matrices in the model file; training is in F32
  int64_t save_every = 250;           // steps from one validation and saving to the next
  int64_t validation_tokens = 65536;  // of the held-out text, from its beginning, about; 0: all
  double floor = 0;                   // a loss that no model can pass, for the figure; 0: unknown
  double peak_flops = 0;              // of this machine, per second, for `utilization`; 0: unknown
};

struct RunReport {
  StepReport step;
  double mean_loss = 0;  // of the last steps, those nearer counting more
  double tokens_per_second = 0;
  double utilization = 0;  // of the machine's peak by the operations of training alone (MFU); 0: unknown
  double seconds_left = 0;
  double epochs = 0;
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  // where it was just measured
  bool is_saved = false;                                              // just now
};

struct RunResult {
  bool is_finished = false;  // else somebody asked to stop; all is saved, and can be resumed
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  // of the model in the file
  int64_t best_step = 0;
};

class TrainingRun {
 public:
  // All must outlive it. `checkpoint`: config, vocabulary and the weights in training. `validation` may be nullptr.
  TrainingRun(Trainer& trainer, const Checkpoint& checkpoint, const TokenData* validation, const RunSettings& settings);

  // Goes on where the files say. Throws Error (Trainer::resume).
  void resume();
  // `goes_on` is asked between steps.
  RunResult run(const std::function<void(const RunReport&)>& on_report, const std::function<bool()>& goes_on = {});

  const std::vector<LogLine>& history() const { return history_; }
  LineFigure figure() const;  // of the history

 private:
  void validate_and_save(RunReport& report);
  void write_model(int64_t step, double validation_loss);
  double operations(const StepReport& report) const;

  Trainer& trainer_;
  const Checkpoint& checkpoint_;
  std::vector<Sample> validation_;
  RunSettings settings_;
  RunFiles files_;
  std::vector<LogLine> history_;
  RunResult result_;
};

}  // namespace orrery
