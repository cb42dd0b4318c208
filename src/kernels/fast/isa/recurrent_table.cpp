#include "kernels/fast/isa/recurrent_functions.h"

namespace orrery::ORRERY_ISA {

extern const RecurrentLoops recurrent_loops = {
    .multiply_panel = multiply_panel,
    .rnn = rnn_step,
    .lstm = lstm_step,
    .gru = gru_step,
    .gru_gates = gru_gates,
    .gru_candidate = gru_candidate,
    .rnn_back = rnn_back,
    .lstm_back = lstm_back,
    .gru_back = gru_back,
    .gru_candidate_back = gru_candidate_back,
    .gru_reset_back = gru_reset_back,
};

}  // namespace orrery::ORRERY_ISA
