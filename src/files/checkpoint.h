// What all file formats become: a config, named weights, a vocabulary. Weights lie where the file is mapped; only what
// must change is copied, and `copies` says which and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "tensor/tensor.h"
#include "text/tokenizer.h"

namespace orrery {

struct FileTensor {            // one line of `show`
  std::string name;            // as the file has it
  std::string type;            // also types that we cannot compute with
  std::vector<int64_t> shape;  // outermost first
  uint64_t offset = 0;         // from the start of the file
  uint64_t bytes = 0;
};

struct WeightCopy {
  std::string name;
  std::string reason;  // "misaligned in the file"
  uint64_t bytes = 0;
};

struct Checkpoint {
  std::string path;
  std::string format;  // "GGUF v3", "llama2.c v0", "Hugging Face folder"
  uint64_t file_bytes = 0;

  ModelConfig config;
  Vocabulary vocabulary;                            // empty() where the file has none
  std::unordered_map<std::string, Tensor> weights;  // by GGUF's names: "blk.0.attn_q.weight"
  std::vector<double> rope_factors;                 // each frequency is divided by its factor; empty: by 1
  std::string chat_template;                        // Jinja, whole, as the file has it; empty: a base model

  std::string obstacle;  // why it cannot compute, in one sentence; only where weights are not needed or absent

  // Key and value as text for people, in the file's order: long values are cut, of long arrays the first elements
  // stand.
  std::vector<std::pair<std::string, std::string>> metadata;
  // Of a folder: config.json by paths.
  // GGUF only, beside `metadata`: each value as the file encodes it, so that write_gguf can write it again.
  std::vector<std::span<const std::byte>> encoded_metadata;
  std::vector<FileTensor> tensors;
  std::vector<WeightCopy> copies;
  std::vector<std::shared_ptr<const void>> owners;  // mapped files and copies that the tensors point into

  // The weight of that name with exactly that shape. Throws Error that names file, tensor, and both shapes.
  const Tensor& weight(const std::string& name, std::initializer_list<int64_t> shape) const;
  const Tensor* find_weight(const std::string& name) const;  // nullptr where it is absent
};

struct LoadOptions {
  std::string tokenizer_path;   // llama2.c only; empty: tokenizer.bin beside the model
  bool needs_tokenizer = true;  // a llama2.c file without one is an error only then
  // false for `show` and `tokenize`: what would keep the model from computing (an unknown family, a weight type we
  // lack) is no error then, but becomes `obstacle`, and `weights` stays empty.
  bool needs_weights = true;
};

// Reads any format we know, told apart by content, not by name; a folder as Hugging Face has them. Throws Error for a
// missing, broken or unsupported file. A GGUF without weights loads (config may be empty then); Checkpoint::weight
// complains when they are asked for.
Checkpoint load_checkpoint(const std::string& path, const LoadOptions& options = {});

}  // namespace orrery
