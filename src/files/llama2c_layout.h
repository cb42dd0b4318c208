// Where each weight stands in a llama2.c file: one list for reading and writing.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model_config.h"
#include "files/weight_list.h"

namespace orrery {

constexpr uint32_t kLlama2cMagic = 0x616b3432;              // "ak42"
constexpr uint64_t kLlama2cHeaderBytes[] = {28, 256, 256};  // versions 0, 1 and 2

// Version 0 has these two tables, cosines and sines of [context, head_dim / 2], before the head.
constexpr const char* kLlama2cCosines = "rope cosines, not used";
constexpr const char* kLlama2cSines = "rope sines, not used";

// Weights (and tables) in the order of the file, nothing between them. Versions 1 and 2 have the same order.
std::vector<NamedShape> llama2c_layout(const ModelConfig& config, int version);

// The config of such a file; sizes come from its header, the constants are those of run.c.
ModelConfig llama2c_config();

}  // namespace orrery
