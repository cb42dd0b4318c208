// Small recurrent models for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/learner.h"
#include "recurrent/recurrent_model.h"
#include "support/models.h"

namespace orrery::test {

constexpr Architecture kRecurrent[] = {Architecture::rnn, Architecture::lstm, Architecture::gru,
                                       Architecture::gru_reset_before};

// Two layers; `variant` 1 has an embedding of another width, 2 a tied head, 3 three layers.
inline ModelConfig small_recurrent_config(Architecture architecture, int variant = 0) {
  return recurrent_config({.architecture = architecture,
                           .n_layers = variant == 3 ? 3 : 2,
                           .d_hidden = 32,
                           .vocab_size = 60,
                           .d_embedding = variant == 1 ? 20 : 0,
                           .tied_head = variant == 2});
}
constexpr int kRecurrentVariants = 4;

}  // namespace orrery::test
