// The model families we know. One file each in families/ says what a family is called and under which keys and names
// the formats keep its values and weights; nothing about families stands elsewhere. Adding one: write its file, name it
// in registry.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "files/gguf.h"
#include "files/gguf_writer.h"
#include "files/json_values.h"

namespace orrery {

struct Family {
  std::string_view name;  // ModelConfig::family, and general.architecture in GGUF

  // The config of a GGUF file. Throws Error for a key that is missing or makes no sense, and names whatever the file
  // asks for that we lack. `vocab_size` is left 0 where the file does not tell it.
  ModelConfig (*from_gguf)(const GgufFile& file);
  // The keys that from_gguf reads. Throws Error for a config that the family cannot express.
  void (*to_gguf)(const ModelConfig& config, GgufMetadataWriter& metadata);
  // In which order GGUF has the rows of q and k. Weights that turn halves are put in order when they are written.
  RopeLayout gguf_rope_layout = RopeLayout::interleaved;
  bool gguf_fuses_qkv = false;  // blk.0.attn_qkv is attn_q, attn_k and attn_v, one below the other
};

// What a weight is called in a folder, without ".weight" or ".bias" at the end.
struct FolderName {
  std::string_view ours;    // "attn_q", without "blk.0." in front
  std::string_view theirs;  // "self_attn.q_proj", without the layer in front
  int part = 0;             // which of the `n_parts` equal parts of their rows
  int n_parts = 1;
};

// A folder's config.json, and whether it has a weight (by our name: "blk.0.attn_q.bias").
struct FolderModel {
  const JsonValues& config;
  std::function<bool(const std::string& weight)> has_weight;
};

// How the folders of one model_type are written.
struct FolderLayout {
  std::string_view model_type;     // in config.json
  const char* obstacle = nullptr;  // why models of this type are refused; where there is one, nothing else is set
  // Throws Error as Family::from_gguf does.
  ModelConfig (*config)(const FolderModel& model);
  // What Checkpoint::rope_factors shall be; nullptr: empty. Called with a config that check() has seen.
  std::vector<double> (*rope_factors)(const JsonValues& file, const ModelConfig& config) = nullptr;

  // Where names follow no rule of the kind below: what a weight of ours is called, given whether the files have a name;
  // nullptr: by the rules.
  std::string (*find_name)(std::string_view ours, const std::function<bool(const std::string&)>& is_there) = nullptr;
  // The vocabulary where config.json has it; nullptr: it never has.
  Vocabulary (*vocabulary)(const JsonValues& file) = nullptr;

  std::string_view prefix;  // of all names but the head's; files that leave it out are understood
  std::string_view layers;  // before the number of a layer: "layers."
  std::span<const FolderName> outer;
  std::span<const FolderName> block;
  std::string_view head = "lm_head";
  bool blocks_are_transposed = false;         // their matrices are [in, out]
  bool norms_lack_one = false;                // their norms multiply by 1 + weight
  std::span<const std::string_view> ignored;  // ends of the names of tensors that are no weights
};

extern const Family kLlamaFamily;  // families/llama.cpp
extern const FolderLayout kLlamaFolder;
extern const FolderLayout kMistralFolder;  // families/mistral.cpp
extern const Family kQwen2Family;          // families/qwen2.cpp
extern const FolderLayout kQwen2Folder;
extern const Family kQwen3Family;  // families/qwen3.cpp
extern const FolderLayout kQwen3Folder;
extern const Family kGemma3Family;  // families/gemma3.cpp
extern const FolderLayout kGemma3Folder;
extern const FolderLayout kGemma3ImagesFolder;
extern const Family kGpt2Family;  // families/gpt2.cpp
extern const FolderLayout kGpt2Folder;
extern const FolderLayout kMinGptFolder;
extern const Family kRnnFamily;  // families/recurrent.cpp
extern const FolderLayout kRnnFolder;
extern const Family kLstmFamily;
extern const FolderLayout kLstmFolder;
extern const Family kGruFamily;
extern const FolderLayout kGruFolder;

const Family* find_family(std::string_view name);  // nullptr for one that we do not know
// Throws Error that names it and lists the ones we know.
const Family& require_family(std::string_view name, const std::string& where);
const FolderLayout& require_folder_layout(std::string_view model_type, const std::string& where);

}  // namespace orrery
