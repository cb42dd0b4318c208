// Qwen2 and Qwen2.5 (Yang et al., 2024): a Llama with biases on queries, keys and values.
#include "base/error.h"
#include "files/families/llama_like.h"

namespace orrery {
namespace {

constexpr std::string_view kName = "qwen2";

// Which layers have a window GGUF does not say.
ModelConfig from_gguf(const GgufFile& file) {
  ModelConfig config = llama_like_from_gguf(file, kName, RopeLayout::half_split);
  bound_context_by_window(config);
  return config;
}

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  if (config.qk_norm) {
    throw Error({.what = "a model that norms queries and keys cannot be written as a model of the family qwen2"});
  }
  llama_like_to_gguf(config, metadata);
}

ModelConfig from_folder(const FolderModel& model) {
  ModelConfig config = llama_like_from_folder(model, kName);
  config.attention_bias = true;
  read_folder_window(model.config, false, config);
  return config;
}

}  // namespace

const Family kQwen2Family = {
    .name = kName, .from_gguf = from_gguf, .to_gguf = to_gguf, .gguf_rope_layout = RopeLayout::half_split};
const FolderLayout kQwen2Folder = llama_like_folder("qwen2", from_folder);

}  // namespace orrery
