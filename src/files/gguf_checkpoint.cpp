// From a GgufFile to a Checkpoint: weights where they are mapped, config by the family, vocabulary.
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "config/yarn.h"
#include "files/byte_reader.h"
#include "files/families.h"
#include "files/ggml_type.h"
#include "files/gguf.h"
#include "files/weight_list.h"
#include "files/weights_in_memory.h"

namespace orrery {
namespace {

constexpr std::string_view kBlockStart = "blk.";

std::string tensor_place(const std::string& path, const FileTensor& tensor) {
  return path + ": tensor " + tensor.name + " at byte " + std::to_string(tensor.offset);
}

// "attn_q.weight" of "blk.7.attn_q.weight"; "" unless there is a layer 7.
std::string part_of_block(const std::string& name, int n_layers) {
  const size_t number = kBlockStart.size();
  const size_t dot = name.find('.', number);
  if (dot == std::string::npos) return "";
  int layer = -1;
  std::from_chars(name.data() + number, name.data() + dot, layer);
  const bool exists = layer >= 0 && layer < n_layers && name.starts_with(block_prefix(layer));
  return exists ? name.substr(dot + 1) : "";
}

// A tensor of a block that the family does not use would change what the model computes: better none than a wrong one.
void refuse_unused_block_tensors(const GgufPart& part, const Family& family, const ModelConfig& config) {
  std::unordered_set<std::string> used;
  for (const NamedShape& weight : block_weight_shapes(config)) used.insert(weight.name);
  if (family.gguf_fuses_qkv) used.insert({"attn_qkv.weight", "attn_qkv.bias"});
  for (const FileTensor& tensor : part.gguf.tensors) {
    if (!tensor.name.starts_with(kBlockStart)) continue;
    if (used.contains(part_of_block(tensor.name, config.n_layers))) continue;
    throw Error({.what = "the model has a weight that the family " + config.family +
                         " does not use, so it is not the model it says it is",
                 .where = tensor_place(part.file->path(), tensor)});
  }
}

// Queries, keys and values that stand one below the other: three views of one tensor.
void add_fused(const FileTensor& tensor, const std::string& path, DType dtype, const std::byte* data,
               Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  const int64_t rows = config.q_dim() + 2 * int64_t{config.kv_dim()};
  if (tensor.shape.empty() || tensor.shape.front() != rows) {
    throw Error({.what = "the weight has another shape than the model says",
                 .where = tensor_place(path, tensor),
                 .expected = std::to_string(rows) + " rows",
                 .found = std::to_string(tensor.shape.empty() ? 0 : tensor.shape.front())});
  }
  const size_t name = tensor.name.find("attn_qkv");
  const std::pair<const char*, int64_t> parts[] = {
      {"attn_q", config.q_dim()}, {"attn_k", config.kv_dim()}, {"attn_v", config.kv_dim()}};
  for (const auto& [part_name, part_rows] : parts) {
    FileTensor part = tensor;
    part.name.replace(name, std::string_view("attn_qkv").size(), part_name);
    part.shape.front() = part_rows;
    part.bytes = tensor.bytes / static_cast<uint64_t>(rows) * static_cast<uint64_t>(part_rows);
    add_mapped_weight(part, dtype, data, checkpoint);
    data += part.bytes;
  }
}

void add_weights(const GgufPart& part, const Family& family, Checkpoint& checkpoint) {
  for (const FileTensor& tensor : part.gguf.tensors) {
    const auto dtype = weight_dtype(tensor.type);
    if (!dtype) {
      throw Error({.what = "weights of the type " + tensor.type + " are not supported",
                   .where = tensor_place(part.file->path(), tensor),
                   .expected = supported_weight_types(),
                   .hint = "fetch the model in one of these types"});
    }
    const std::byte* data = part.file->bytes().data() + tensor.offset;
    const bool is_fused = family.gguf_fuses_qkv && tensor.name.find(".attn_qkv.") != std::string::npos;
    if (is_fused) {
      add_fused(tensor, part.file->path(), *dtype, data, checkpoint);
    } else {
      add_mapped_weight(tensor, *dtype, data, checkpoint);
    }
  }
}

// Llama 3.1 and later: each frequency of the rotary positions has a divisor of its own.
void read_rope_factors(Checkpoint& checkpoint) {
  checkpoint.rope_factors = yarn_factors(checkpoint.config);
  const Tensor* factors = checkpoint.find_weight("rope_freqs.weight");
  if (factors == nullptr) return;
  if (!checkpoint.rope_factors.empty()) {
    throw Error({.what = "rotary positions that are scaled in two ways are not supported",
                 .where = checkpoint.path + ": tensor rope_freqs.weight"});
  }
  checkpoint.weight("rope_freqs.weight", {checkpoint.config.rope_dims / 2});
  for (int64_t i = 0; i < factors->shape[0]; ++i) {
    const double factor = values<float>(*factors)[i];
    if (!std::isfinite(factor) || factor <= 0) {
      throw Error({.what = "a divisor of the rotary frequencies makes no sense",
                   .where = checkpoint.path + ": tensor rope_freqs.weight",
                   .expected = "positive numbers",
                   .found = std::to_string(factor)});
    }
    checkpoint.rope_factors.push_back(factor);
  }
}

void check_vocabulary_size(const Checkpoint& checkpoint) {
  const size_t n_pieces = checkpoint.vocabulary.pieces.size();
  if (n_pieces == 0 || n_pieces == static_cast<size_t>(checkpoint.config.vocab_size)) return;
  throw Error({.what = "vocabulary and model do not belong together",
               .where = checkpoint.path,
               .expected = std::to_string(checkpoint.config.vocab_size) + " tokens, as the model has",
               .found = std::to_string(n_pieces) + " in the vocabulary"});
}

void read_config(const GgufFile& file, Checkpoint& checkpoint) {
  const std::string architecture(file.metadata.text("general.architecture").value_or(""));
  const Family& family = require_family(architecture, checkpoint.path);
  ModelConfig config = family.from_gguf(file);
  config.name = file.metadata.text("general.name").value_or("");
  if (config.vocab_size == 0) config.vocab_size = static_cast<int>(checkpoint.vocabulary.pieces.size());
  check(config, checkpoint.path);
  checkpoint.config = config;
  check_vocabulary_size(checkpoint);
}

void read_model(const GgufFile& whole, const std::vector<GgufPart>& parts, Checkpoint& checkpoint) {
  read_config(whole, checkpoint);
  if (whole.tensors.empty()) return;
  const Family& family = require_family(checkpoint.config.family, checkpoint.path);
  for (const GgufPart& part : parts) refuse_unused_block_tensors(part, family, checkpoint.config);
  for (const GgufPart& part : parts) add_weights(part, family, checkpoint);
  read_rope_factors(checkpoint);
}

}  // namespace

Checkpoint gguf_checkpoint(std::shared_ptr<const MappedFile> file, const LoadOptions& options) {
  Checkpoint checkpoint;
  checkpoint.path = file->path();
  const std::vector<GgufPart> parts = read_gguf_parts(std::move(file));
  GgufFile whole = parts.front().gguf;
  whole.tensors.clear();
  for (const GgufPart& part : parts) {
    whole.tensors.insert(whole.tensors.end(), part.gguf.tensors.begin(), part.gguf.tensors.end());
    checkpoint.file_bytes += part.file->bytes().size();
    checkpoint.owners.push_back(part.file);
  }
  checkpoint.format = "GGUF v" + std::to_string(whole.version);
  if (parts.size() > 1) checkpoint.format += " in " + std::to_string(parts.size()) + " parts";
  for (const auto& [key, value] : whole.metadata.entries()) {
    checkpoint.metadata.emplace_back(key, value_text(value));
    checkpoint.encoded_metadata.push_back(value.encoded);
  }
  checkpoint.tensors = whole.tensors;
  checkpoint.vocabulary = gguf_vocabulary(whole.metadata);
  checkpoint.chat_template = whole.metadata.text("tokenizer.chat_template").value_or("");

  // A vocabulary can be used whatever the model is.
  try {
    read_model(whole, parts, checkpoint);
  } catch (const Error& error) {
    if (options.needs_weights && !whole.tensors.empty()) throw;
    checkpoint.obstacle = error.what();
    checkpoint.weights.clear();
    checkpoint.copies.clear();
  }
  return checkpoint;
}

}  // namespace orrery
