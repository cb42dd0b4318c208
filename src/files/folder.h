// A model's folder as Hugging Face's transformers write it (https://huggingface.co/docs/transformers): config.json,
// generation_config.json, tokenizer.json or vocab.json and merges.txt, tokenizer_config.json, chat_template.jinja, and
// the weights as safetensors.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "files/checkpoint.h"
#include "files/families.h"
#include "files/safetensors.h"

namespace orrery {

Checkpoint folder_checkpoint(const std::string& folder, const LoadOptions& options);

// The tokenizer, with what config.json and generation_config.json say about BOS and end tokens; empty where the folder
// has none. Sets the checkpoint's chat template. Throws Error where the only tokenizer there is one that we cannot
// read.
Vocabulary folder_vocabulary(const std::string& folder, Checkpoint& checkpoint);

// The tensors of a folder's files, found by our names.
class FolderTensors {
 public:
  FolderTensors(std::string folder, const FolderLayout& layout, std::vector<SafetensorsFile> files);

  bool has(const std::string& our_name) const;
  size_t count() const { return tensors_.size(); }

  // Fills in weights, tensors, copies and owners of a checkpoint whose config is known. Throws Error for a weight that
  // is missing, has another shape or a type that we lack, and for a tensor that the model does not use.
  void add_to(Checkpoint& checkpoint) const;

 private:
  struct Place {
    const FileTensor* tensor;
    const SafetensorsFile* file;
  };
  struct Source {
    std::string name;  // theirs
    const FolderName* rule;
    bool is_transposed;
  };
  Source source_of(const std::string& our_name) const;
  void add_weight(const Source& source, const Place& place, const std::string& name, const std::vector<int64_t>& shape,
                  Checkpoint& checkpoint) const;
  void refuse_unused(const std::unordered_set<std::string>& used, const ModelConfig& config) const;

  std::string folder_;
  const FolderLayout& layout_;
  std::string prefix_;
  std::vector<SafetensorsFile> files_;
  std::unordered_map<std::string, Place> tensors_;  // by their names
};

}  // namespace orrery
