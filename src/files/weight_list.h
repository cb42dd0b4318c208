// Which weights a model has, by the names that Orrery uses everywhere: those of GGUF
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "Standardized tensor names"). GGUF has none for recurrent
// layers: cell_ih is PyTorch's weight_ih and bias_ih, cell_hh its weight_hh and bias_hh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model_config.h"

namespace orrery {

struct NamedShape {
  std::string name;            // "blk.0.attn_q.weight"
  std::vector<int64_t> shape;  // outermost first: [out, in]
};

// How wide a recurrent layer's input is.
int recurrent_input(const ModelConfig& config, int layer);

// The weights of one block, without "blk.0." in front. (The first layer of a recurrent model may have another input.)
std::vector<NamedShape> block_weight_shapes(const ModelConfig& config);
// All weights, in the order of their use.
std::vector<NamedShape> weight_shapes(const ModelConfig& config);

std::string block_prefix(int layer);  // "blk.0."

}  // namespace orrery
