#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "files/folder.h"
#include "text/added_tokens.h"

namespace orrery {
namespace {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void require_files(const std::string& folder) {
  if (!is_there(folder + "/config.json")) {
    throw Error({.what = "the folder has no config.json, so it is not a model's",
                 .where = folder,
                 .expected = "a folder as Hugging Face has them, a GGUF file, or a llama2.c .bin"});
  }
  if (has_safetensors(folder)) return;
  const bool is_pytorch = is_there(folder + "/pytorch_model.bin") || is_there(folder + "/pytorch_model.bin.index.json");
  throw Error({.what = "the folder has no weights",
               .where = folder,
               .expected = "model.safetensors or model.safetensors.index.json",
               .found = is_pytorch ? "pytorch_model.bin" : "",
               .hint = is_pytorch ? "fetch the model as safetensors" : "fetch all files of the model"});
}

// Models of one line may share a tokenizer whose last added tokens only the larger ones know (Gemma 3's is the one that
// stands for an image). What nothing can be computed with is text like any other.
void drop_surplus_tokens(size_t size, Vocabulary& vocabulary) {
  if (vocabulary.pieces.size() <= size) return;
  const bool all_are_added = std::all_of(vocabulary.kinds.begin() + static_cast<std::ptrdiff_t>(size),
                                         vocabulary.kinds.end(), stands_as_it_is);
  const bool some_are_needed =
      vocabulary.bos >= static_cast<int64_t>(size) || vocabulary.unknown >= static_cast<int64_t>(size) ||
      std::ranges::any_of(vocabulary.end_tokens, [&](TokenId id) { return id >= static_cast<int64_t>(size); });
  if (!all_are_added || some_are_needed) return;
  vocabulary.pieces.resize(size);
  vocabulary.scores.resize(size);
  vocabulary.kinds.resize(size);
}

void check_vocabulary_size(Checkpoint& checkpoint) {
  Vocabulary& vocabulary = checkpoint.vocabulary;
  const auto size = static_cast<size_t>(checkpoint.config.vocab_size);
  if (vocabulary.empty()) return;
  drop_surplus_tokens(size, vocabulary);
  if (vocabulary.pieces.size() > size) {
    throw Error({.what = "vocabulary and model do not belong together",
                 .where = checkpoint.path,
                 .expected = "at most " + std::to_string(size) + " tokens, as the model has",
                 .found = std::to_string(vocabulary.pieces.size()) + " in the vocabulary"});
  }
  // Many models have more rows than tokens, for round numbers. These ids mean nothing.
  auto names = std::make_shared<std::vector<std::string>>();
  for (size_t id = vocabulary.pieces.size(); id < size; ++id) names->push_back("[PAD" + std::to_string(id) + "]");
  for (const std::string& name : *names) {
    vocabulary.pieces.push_back(name);
    vocabulary.scores.push_back(0);
    vocabulary.kinds.push_back(PieceKind::control);
  }
  // The pieces live as long as the vocabulary: what kept them alive goes on to do so beside the new names.
  struct Both {
    std::shared_ptr<const std::string> texts;
    std::shared_ptr<std::vector<std::string>> names;
  };
  auto both = std::make_shared<Both>(Both{vocabulary.storage, std::move(names)});
  vocabulary.storage = std::shared_ptr<const std::string>(both, both->texts.get());
}

void read_model(const std::string& folder, Checkpoint& checkpoint) {
  require_files(folder);
  const JsonValues file(folder + "/config.json");
  if (file.has("quantization_config")) {
    file.fail("quantization_config", "weights quantized in this way are not supported",
              file.text("quantization_config/quant_method"));
  }
  const FolderLayout& layout = require_folder_layout(file.text("model_type"), file.path());
  std::vector<SafetensorsFile> files = read_safetensors_folder(folder);
  for (const SafetensorsFile& part : files) {
    checkpoint.file_bytes += part.file->bytes().size();
    checkpoint.owners.push_back(part.file);
    checkpoint.tensors.insert(checkpoint.tensors.end(), part.tensors.begin(), part.tensors.end());
  }
  const FolderTensors tensors(folder, layout, std::move(files));
  ModelConfig config =
      layout.config({.config = file, .has_weight = [&](const std::string& name) { return tensors.has(name); }});
  config.name = std::filesystem::path(folder + "/.").lexically_normal().parent_path().filename();
  check(config, file.path());
  checkpoint.config = config;
  if (layout.rope_factors != nullptr) checkpoint.rope_factors = layout.rope_factors(file, config);
  tensors.add_to(checkpoint);
  if (checkpoint.vocabulary.empty() && layout.vocabulary != nullptr) checkpoint.vocabulary = layout.vocabulary(file);
  check_vocabulary_size(checkpoint);
}

}  // namespace

Checkpoint folder_checkpoint(const std::string& folder, const LoadOptions& options) {
  Checkpoint checkpoint;
  checkpoint.path = folder;
  checkpoint.format = "Hugging Face folder";
  if (is_there(folder + "/config.json")) checkpoint.metadata = JsonValues(folder + "/config.json").lines();
  try {
    checkpoint.vocabulary = folder_vocabulary(folder, checkpoint);
  } catch (const Error& error) {
    if (options.needs_tokenizer) throw;
    checkpoint.metadata.emplace_back("tokenizer", error.what());
  }
  // A vocabulary can be used whatever the model is.
  try {
    read_model(folder, checkpoint);
  } catch (const Error& error) {
    if (options.needs_weights || checkpoint.vocabulary.empty()) throw;
    checkpoint.obstacle = error.what();
    checkpoint.weights.clear();
    checkpoint.copies.clear();
  }
  return checkpoint;
}

}  // namespace orrery
