// The model families we know. One file each in families/ says what a family is called and under which keys the formats
// keep its values; nothing about families stands elsewhere. Adding one: write its file, name it in registry.cpp.
#pragma once

#include <string>
#include <string_view>

#include "config/model_config.h"
#include "files/gguf.h"
#include "files/gguf_writer.h"

namespace orrery {

struct Family {
  std::string_view name;  // ModelConfig::family, and general.architecture in GGUF

  // The config of a GGUF file. Throws Error for a key that is missing or makes no sense, and names whatever the file
  // asks for that we lack. `vocab_size` is left 0 where the file does not tell it.
  ModelConfig (*from_gguf)(const GgufFile& file);
  // The keys that from_gguf reads. Throws Error for a config that the family cannot express.
  void (*to_gguf)(const ModelConfig& config, GgufMetadataWriter& metadata);
};

extern const Family kLlamaFamily;  // families/llama.cpp

const Family* find_family(std::string_view name);  // nullptr for one that we do not know
// Throws Error that names it and lists the ones we know.
const Family& require_family(std::string_view name, const std::string& where);

}  // namespace orrery
