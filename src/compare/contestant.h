// The language models that are compared, all with about the same number of parameters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "learn/learner.h"
#include "learn/recurrent_initialization.h"

namespace orrery {

struct Contestant {
  ModelConfig config;
  RecurrentInitialization initialization;  // recurrent models only

  std::string name() const { return name_of(config.architecture); }
  int64_t parameters() const;
  // "2 layers of 48, 4 heads, feed-forward 136"; "2 layers of 80, uniform, forget bias 1".
  std::string description() const;
};

// "rnn", "lstm", "gru", "transformer": in the order in which they are shown.
std::vector<Architecture> all_contestants();

// Two layers of the widths that come nearest to so many parameters. Each begins as is usual for its kind: the plain RNN
// with an orthogonal matrix, the LSTM with a forget bias of 1, the GRU as PyTorch has it, the transformer as
// `initialize` has it. The transformer's embedding also is its head; recurrent models, which learn slower so, have
// both.
Contestant contestant_of(Architecture architecture, int vocab_size, int64_t parameters);

// Ready to learn or to compute. The same seed gives the same weights.
std::unique_ptr<Learner> make_learner(const Contestant& contestant, const Threads& threads, uint64_t seed,
                                      DType type = DType::F32);

}  // namespace orrery
