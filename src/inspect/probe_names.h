// The names of intermediate tensors (src/model/PROBES.md), in the order in which a forward pass computes them, and the
// names that the same tensors have among the modules of Hugging Face's transformers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProbeName {
  int layer = -1;         // -1 outside the blocks
  std::string_view kind;  // "attn.q" of "blk.3.attn.q": a view into the name that was split
};
ProbeName split_probe_name(std::string_view name);
std::string probe_name(int layer, std::string_view kind);  // "blk.3.attn.q", or the kind itself outside the blocks

// Scores and weights are [n_heads, n, m]; everything else has its rows outermost.
bool has_heads_outside(std::string_view name);

// Earlier ones have smaller numbers; a name that is not in the list comes after all that are.
int64_t probe_order(std::string_view name);

// What a tensor may be computed from: names of its own layer, and what enters the block. Not all of them are there in
// every model. Empty for the first tensor, for unknown ones, and for final_norm, whose layer the name does not say.
std::vector<std::string> probe_inputs(std::string_view name);

// "model.layers.3.self_attn.q_proj" (Llama, Mistral, Qwen, Gemma) and "transformer.h.3.attn.c_proj" (GPT-2) in our
// words. A name stands for the module's output, with ".input" for its input. "" for what has no name among ours.
// `has_post_norms`: in Gemma 3 post_attention_layernorm is another one than in Llama.
std::string probe_name_of_module(std::string_view module, bool has_post_norms);

}  // namespace orrery
