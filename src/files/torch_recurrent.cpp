#include "files/torch_recurrent.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output_file.h"
#include "files/folder.h"
#include "files/safetensors.h"
#include "files/safetensors_writer.h"
#include "files/tokenizer_json.h"
#include "files/weight_list.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHiddenWeight = "weight_hh_l";

const FileTensor* find_tensor(const SafetensorsFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors, name, &FileTensor::name);
  return found == file.tensors.end() ? nullptr : &*found;
}

// The tensor that `layout` takes for this weight of ours, which has two dimensions.
const FileTensor& matrix_of(const SafetensorsFile& file, const FolderLayout& layout, const std::string& ours) {
  const auto is_there = [&](const std::string& name) { return find_tensor(file, name) != nullptr; };
  const std::string name = layout.find_name(ours, is_there);
  const FileTensor* tensor = find_tensor(file, name);
  if (tensor != nullptr && tensor->shape.size() == 2 && tensor->shape[0] > 0 && tensor->shape[1] > 0) return *tensor;
  throw Error({.what = "a safetensors file without a config.json beside it can only be a recurrent model of PyTorch's",
               .where = file.file->path(),
               .expected = "a matrix " + name,
               .found = tensor == nullptr ? "" : "a tensor of another shape",
               .hint = "name the folder that has config.json, too"});
}

int size_of(int64_t extent) { return static_cast<int>(std::min<int64_t>(extent, INT32_MAX)); }

// Which of the three it is shows in how many gates stand below each other. (Where a GRU resets does not show: PyTorch
// knows one way.)
const FolderLayout& layout_of(const SafetensorsFile& file) {
  const FileTensor& hidden = matrix_of(file, kLstmFolder, "blk.0.cell_hh.weight");
  const int64_t gates = hidden.shape[0] / hidden.shape[1];
  const bool is_whole = hidden.shape[0] % hidden.shape[1] == 0;
  if (is_whole && gates == 1) return kRnnFolder;
  if (is_whole && gates == 3) return kGruFolder;
  if (is_whole && gates == 4) return kLstmFolder;
  throw Error({.what = "this is no matrix of an RNN, a GRU or an LSTM",
               .where = file.file->path() + ": tensor " + hidden.name,
               .expected = "1, 3 or 4 times as many rows as columns",
               .found = std::to_string(hidden.shape[0]) + " rows of " + std::to_string(hidden.shape[1])});
}

ModelConfig config_of(const SafetensorsFile& file, const FolderLayout& layout) {
  ModelConfig config;
  config.architecture = &layout == &kRnnFolder    ? Architecture::rnn
                        : &layout == &kLstmFolder ? Architecture::lstm
                                                  : Architecture::gru;
  config.family = "orrery-" + std::string(layout.model_type);
  config.name = std::filesystem::path(file.file->path()).stem();
  config.n_layers = size_of(std::ranges::count_if(
      file.tensors, [](const FileTensor& tensor) { return tensor.name.find(kHiddenWeight) != std::string::npos; }));
  config.d_hidden = size_of(matrix_of(file, layout, "blk.0.cell_hh.weight").shape[1]);
  config.d_model = size_of(matrix_of(file, layout, "blk.0.cell_ih.weight").shape[1]);
  config.vocab_size = size_of(matrix_of(file, layout, "token_embd.weight").shape[0]);
  config.context_length = kUnboundedContext;
  const auto is_there = [&](const std::string& name) { return find_tensor(file, name) != nullptr; };
  config.tied_head = !is_there(layout.find_name("output.weight", is_there));
  config.head_bias = is_there(layout.find_name("output.bias", is_there));
  check(config, file.file->path());
  return config;
}

std::string torch_module_name(const std::string& ours) {
  const std::string suffix = ours.substr(ours.rfind('.'));
  if (ours == "token_embd.weight") return "encoder.weight";
  if (ours.starts_with("output.")) return "decoder" + suffix;
  return kLstmFolder.find_name(ours, [](const std::string&) { return false; });  // "rnn.weight_ih_l0"
}

bool is_of_characters(const Vocabulary& vocabulary) {
  return vocabulary.model == "llama" && vocabulary.merges.empty() &&
         std::ranges::all_of(vocabulary.scores, [](float score) { return score == 0; });
}

Json config_json(const Checkpoint& checkpoint) {
  const ModelConfig& c = checkpoint.config;
  Json json;
  const bool resets_before = c.architecture == Architecture::gru_reset_before;
  json["model_type"] = name_of(resets_before ? Architecture::gru : c.architecture);
  json["vocab_size"] = c.vocab_size;
  json["embedding_dim"] = c.d_model;
  json["hidden_size"] = c.d_hidden;
  json["num_layers"] = c.n_layers;
  if (c.context_length != kUnboundedContext) json["context_length"] = c.context_length;
  if (resets_before) json["reset_after_product"] = false;
  if (c.tied_head) json["tie_weights"] = true;
  const Vocabulary& vocabulary = checkpoint.vocabulary;
  if (vocabulary.bos != kNoToken) json["bos_token_id"] = vocabulary.bos;
  if (!vocabulary.end_tokens.empty()) json["eos_token_id"] = vocabulary.end_tokens;
  if (vocabulary.unknown != kNoToken) json["unk_token_id"] = vocabulary.unknown;
  if (is_of_characters(vocabulary)) json["pieces"] = vocabulary.pieces;
  return json;
}

}  // namespace

bool is_safetensors(const MappedFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  uint64_t header = 0;
  if (bytes.size() <= sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header <= bytes.size() - sizeof header && bytes[sizeof header] == std::byte{'{'};
}

Checkpoint safetensors_checkpoint(const std::string& path, const LoadOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (std::filesystem::exists(folder / "config.json", ignored)) {
    return folder_checkpoint(folder.empty() ? "." : folder.string(), options);
  }
  Checkpoint checkpoint;
  checkpoint.path = path;
  checkpoint.format = "safetensors";
  std::vector<SafetensorsFile> files = {read_safetensors(path)};
  checkpoint.file_bytes = files[0].file->bytes().size();
  checkpoint.owners.push_back(files[0].file);
  checkpoint.tensors = files[0].tensors;
  const FolderLayout& layout = layout_of(files[0]);
  checkpoint.config = config_of(files[0], layout);
  FolderTensors(path, layout, std::move(files)).add_to(checkpoint);
  return checkpoint;
}

void write_torch_recurrent(const std::string& folder, const Checkpoint& checkpoint) {
  const Vocabulary& vocabulary = checkpoint.vocabulary;
  if (!checkpoint.config.is_recurrent()) {
    throw Error({.what = "only recurrent models are written with PyTorch's names", .where = folder});
  }
  if (!vocabulary.empty() && vocabulary.model != "gpt2" && !is_of_characters(vocabulary)) {
    throw Error({.what = "this kind of vocabulary cannot be written beside PyTorch's weights",
                 .where = folder,
                 .expected = "byte-level BPE or characters",
                 .found = vocabulary.model});
  }
  std::vector<SafetensorsTensor> tensors;
  for (const NamedShape& weight : weight_shapes(checkpoint.config)) {
    tensors.push_back(safetensors_tensor(checkpoint.weights.at(weight.name), torch_module_name(weight.name)));
    // A module that ties its head has the matrix under both names.
    if (checkpoint.config.tied_head && weight.name == "token_embd.weight") {
      tensors.push_back(safetensors_tensor(checkpoint.weights.at(weight.name), "decoder.weight"));
    }
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error({.what = "the folder cannot be made: " + failed.message(), .where = folder});
  write_safetensors(folder + "/model.safetensors", tensors, {{"format", "pt"}});
  if (vocabulary.model == "gpt2") write_tokenizer_json(folder + "/tokenizer.json", vocabulary);
  // Last: without it, the folder is no model's.
  OutputFile file(folder + "/config.json");
  file.write(config_json(checkpoint).dump(1) + "\n");
  file.commit();
}

}  // namespace orrery
