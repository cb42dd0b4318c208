// Which weights a decoder-only model has, by the names that Orrery uses everywhere: those of GGUF
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "Standardized tensor names").
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

// The weights of one block, without "blk.0." in front.
std::vector<NamedShape> block_weight_shapes(const ModelConfig& config);
// All weights, in the order of their use.
std::vector<NamedShape> weight_shapes(const ModelConfig& config);

std::string block_prefix(int layer);  // "blk.0."

}  // namespace orrery
