// A run in a file: what its next step depends on, so that it goes on as if it had never stopped. The file is a GGUF
// that every reader takes for the model as it stands; the optimizer's tensors ("optimizer.blk.0.attn_q.weight.mean")
// and a few keys ("orrery.training.step") come on top.
#pragma once

#include <cstdint>
#include <string>

#include "files/checkpoint.h"
#include "learn/optimizer.h"
#include "learn/parameters.h"
#include "learn/token_data.h"

namespace orrery {

struct TrainingState {
  int64_t steps_taken = 0;
  Packer::Place place;
  std::string settings;  // run_description()
  std::string data;      // TokenData::fingerprint()
};

// The file appears whole or not at all. `checkpoint` has the config, the vocabulary and the weights.
void write_training_state(const std::string& path, const Checkpoint& checkpoint, const Optimizer& optimizer,
                          const TrainingState& state);

struct SavedTraining {
  TrainingState state;
  Checkpoint checkpoint;  // with the optimizer's tensors among its weights
};
// Throws Error for a file that is broken or holds no such state.
SavedTraining read_training_state(const std::string& path);
// Throws Error for another model or another optimizer.
void restore(const SavedTraining& saved, Parameters& parameters, Optimizer& optimizer);

}  // namespace orrery
