// Qwen3 (Yang et al., 2025): a Llama that norms each head of queries and keys before they turn.
#include "base/error.h"
#include "files/families/llama_like.h"

namespace orrery {
namespace {

constexpr std::string_view kName = "qwen3";

ModelConfig from_gguf(const GgufFile& file) {
  ModelConfig config = llama_like_from_gguf(file, kName, RopeLayout::half_split);
  config.qk_norm = true;
  bound_context_by_window(config);  // which layers have it GGUF does not say
  return config;
}

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  if (!config.qk_norm) {
    throw Error(
        {.what = "a model that does not norm queries and keys cannot be written as a model of the family qwen3"});
  }
  llama_like_to_gguf(config, metadata);
}

ModelConfig from_folder(const FolderModel& model) {
  ModelConfig config = llama_like_from_folder(model, kName);
  config.qk_norm = true;
  config.attention_bias = config.output_bias = model.config.flag("attention_bias", false);
  read_folder_window(model.config, false, config);
  return config;
}

}  // namespace

const Family kQwen3Family = {
    .name = kName, .from_gguf = from_gguf, .to_gguf = to_gguf, .gguf_rope_layout = RopeLayout::half_split};
const FolderLayout kQwen3Folder = llama_like_folder("qwen3", from_folder);

}  // namespace orrery
