// Tiny random models of each family, and a plain writer of folders as Hugging Face's transformers have them. Names and
// layouts stand here a second time, so that a mistake in the library shows.
#pragma once

#include <string>
#include <vector>

#include "files/checkpoint.h"

namespace orrery::test {

// "llama", "mistral", "qwen2", "qwen3", "gemma3", "gpt2"; "qwen2-yarn" and "qwen3-yarn". Rotary positions turn halves,
// as in folders. With a vocabulary; the weights are F32 or of the type given.
Checkpoint family_model(const std::string& family, DType matrices = DType::F32);

// config.json as transformers would write it; `extra` is put before the last brace: ",\"key\":1".
std::string folder_config(const std::string& family, const ModelConfig& config, const std::string& extra = "");

// Writes config.json and model.safetensors into a folder that is there.
void write_model_folder(const std::string& folder, const std::string& family, const Checkpoint& model,
                        const std::string& extra = "");

}  // namespace orrery::test
