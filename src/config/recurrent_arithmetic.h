// The counts of arithmetic.h for recurrent models, to which its functions pass such configs on.
#pragma once

#include "config/arithmetic.h"

namespace orrery {

ParameterCount recurrent_parameter_count(const ModelConfig& config);
FlopCount recurrent_forward_flops(const ModelConfig& config, const RowCounts& counts);
// One sequence with a state; `logit_rows` as for a transformer.
uint64_t recurrent_activation_bytes(const ModelConfig& config, int64_t rows, int64_t logit_rows, DType activations);
// What a sequence's state holds, however long the sequence is.
uint64_t recurrent_state_bytes(const ModelConfig& config, DType type);

// Tensors [rows, d_hidden] that a layer makes.
int recurrent_layer_tensors(Architecture architecture);

}  // namespace orrery
