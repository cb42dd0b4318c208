// Declares what recurrent_table.cpp collects, in the namespace of the instruction set that is being compiled for.
#pragma once

#include "kernels/fast/isa/recurrent_loops.h"

namespace orrery::ORRERY_ISA {

void multiply_panel(const RecurrentLoops::PanelProduct& product);

void rnn_step(const RecurrentLoops::RnnStep& step);
void lstm_step(const RecurrentLoops::LstmStep& step);
void gru_step(const RecurrentLoops::GruStep& step);
void gru_gates(const RecurrentLoops::GruStep& step);
void gru_candidate(const RecurrentLoops::GruStep& step);

void rnn_back(const RecurrentLoops::RnnBack& step);
void lstm_back(const RecurrentLoops::LstmBack& step);
void gru_back(const RecurrentLoops::GruBack& step);
void gru_candidate_back(const RecurrentLoops::GruBack& step);
void gru_reset_back(const RecurrentLoops::GruBack& step);

}  // namespace orrery::ORRERY_ISA
