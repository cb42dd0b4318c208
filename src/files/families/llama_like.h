// What Llama and the families after it have in common: RMSNorm before each half of a block, rotary positions, a gated
// feed-forward layer with SiLU. They differ in biases, norms of q and k, and the order of rows in GGUF.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "files/families.h"

namespace orrery {

// GGUF: the keys of all of them are the same but for the family's name in front. `layout` is the order of the rows of q
// and k. A window shorter than the context becomes the context: up to there it changes nothing.
ModelConfig llama_like_from_gguf(const GgufFile& file, std::string_view family, RopeLayout layout);
void llama_like_to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata);

// Folders: all but the biases, the norms of q and k, and the window.
ModelConfig llama_like_from_folder(const FolderModel& model, std::string_view family);
// `is_on` is what "use_sliding_window" means where it is absent.
void read_folder_window(const JsonValues& file, bool is_on, ModelConfig& config);
// Divisors of the rotary frequencies for the scaling "llama3" (Grattafiori et al., 2024), else empty.
std::vector<double> llama_like_rope_factors(const JsonValues& file, const ModelConfig& config);

FolderLayout llama_like_folder(std::string_view model_type, ModelConfig (*config)(const FolderModel& model));

}  // namespace orrery
