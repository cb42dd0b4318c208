// What Llama and the families after it have in common: RMSNorm before each half of a block, rotary positions, a gated
// feed-forward layer with SiLU. They differ in biases, norms of q and k, and the order of rows in GGUF.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "files/families.h"

namespace orrery {

// In what a family may differ.
struct LlamaLike {
  Activation activation = Activation::silu;
  std::string_view activation_key = "hidden_act", activation_name = "silu";  // in config.json
  bool post_norms = false;                                                   // and scales of its own
  double rope_base = 10000;  // where config.json does not say; transformers' default
  int head_dim = 0;          // the same; 0: d_model / n_heads
};

// GGUF: the keys of all of them are the same but for the family's name in front. `layout` is the order of the rows of q
// and k. A window that is shorter than the context is one of all layers.
ModelConfig llama_like_from_gguf(const GgufFile& file, std::string_view family, RopeLayout layout);
void llama_like_to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata, const LlamaLike& like = {});

// Folders: all but the biases, the norms of q and k, and the window.
ModelConfig llama_like_from_folder(const FolderModel& model, std::string_view family, const LlamaLike& like = {});
// `of_all_layers`: the window is on, and of all layers, where the file does not say otherwise.
void read_folder_window(const JsonValues& file, bool of_all_layers, ModelConfig& config);
// Where some layers have the window and others have none: up to there nothing differs, so that is the context.
void bound_context_by_window(ModelConfig& config);
// Divisors of the rotary frequencies for the scaling "llama3" (Grattafiori et al., 2024), else empty.
std::vector<double> llama_like_rope_factors(const JsonValues& file, const ModelConfig& config);

FolderLayout llama_like_folder(std::string_view model_type, ModelConfig (*config)(const FolderModel& model));

}  // namespace orrery
