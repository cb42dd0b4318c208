// Mistral 7B (Jiang et al., 2023): a Llama whose attention does not look back further than a window. In GGUF it calls
// itself llama.
#include "files/families/llama_like.h"

namespace orrery {
namespace {

ModelConfig from_folder(const FolderModel& model) {
  ModelConfig config = llama_like_from_folder(model, "llama");
  read_folder_window(model.config, true, config);
  return config;
}

}  // namespace

const FolderLayout kMistralFolder = llama_like_folder("mistral", from_folder);

}  // namespace orrery
