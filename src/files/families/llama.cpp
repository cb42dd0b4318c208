// Llama 1 to 3 (Touvron et al., 2023; Grattafiori et al., 2024) and the many models that are built the same way, such
// as TinyLlama and SmolLM2.
#include "base/error.h"
#include "files/families/llama_like.h"

namespace orrery {
namespace {

constexpr std::string_view kName = "llama";

// GGUF has the weights of q and k in the order of Meta's own files, in which neighbours turn together.
ModelConfig from_gguf(const GgufFile& file) { return llama_like_from_gguf(file, kName, RopeLayout::interleaved); }

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  if (config.qk_norm) {
    throw Error({.what = "a model that norms queries and keys cannot be written as a model of the family llama"});
  }
  llama_like_to_gguf(config, metadata);
}

ModelConfig from_folder(const FolderModel& model) {
  ModelConfig config = llama_like_from_folder(model, kName);
  config.attention_bias = config.output_bias = model.config.flag("attention_bias", false);
  config.ffn_bias = model.config.flag("mlp_bias", false);
  return config;
}

}  // namespace

const Family kLlamaFamily = {.name = kName, .from_gguf = from_gguf, .to_gguf = to_gguf};
const FolderLayout kLlamaFolder = llama_like_folder("llama", from_folder);

}  // namespace orrery
