#include "files/gguf_writer.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/output_file.h"
#include "files/families.h"
#include "files/ggml_type.h"
#include "files/pre_tokenizations.h"
#include "files/rope_rows.h"
#include "files/row_writer.h"

namespace orrery {
namespace {

constexpr uint64_t kDefaultAlignment = 32;
constexpr uint32_t kQuantizationVersion = 2;  // GGML_QNT_VERSION of ggml.h, since Q8_0 has its present form
constexpr const char* kFileTypeKey = "general.file_type";
constexpr const char* kPartKeys = "split.";
constexpr const char* kQuantizationKey = "general.quantization_version";
constexpr const char* kAlignmentKey = "general.alignment";
constexpr const char* kRopeFactorsName = "rope_freqs.weight";

struct PlannedTensor {
  std::string name;
  std::vector<Tensor> parts;  // one below the other
  DType type;
  bool is_interleaved = false;  // its rows are put in the order of RopeLayout::interleaved

  int64_t elements() const {
    int64_t sum = 0;
    for (const Tensor& part : parts) sum += n_elements(part);
    return sum;
  }
  int64_t rows() const {
    int64_t sum = 0;
    for (const Tensor& part : parts) sum += part.shape[0];
    return sum;
  }
};

// The order of the file that the checkpoint came from, then whatever else it has, by name.
std::vector<std::string> names_in_order(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  std::map<std::string, const Tensor*> rest;
  for (const auto& [name, weight] : checkpoint.weights) rest.emplace(name, &weight);
  for (const FileTensor& tensor : checkpoint.tensors) {
    if (rest.erase(tensor.name) > 0) names.push_back(tensor.name);
  }
  for (const auto& [name, weight] : rest) names.push_back(name);
  return names;
}

// `rope_factors` are the checkpoint's as F32, for a checkpoint that does not come from a GGUF file.
std::vector<PlannedTensor> plan(const Checkpoint& checkpoint, const GgufWriteOptions& options,
                                std::vector<float>& rope_factors) {
  std::vector<PlannedTensor> planned;
  if (!rope_factors.empty() && checkpoint.config.yarn.factor == 1 &&
      checkpoint.find_weight(kRopeFactorsName) == nullptr) {
    const Tensor factors = make_tensor(kRopeFactorsName, DType::F32, {static_cast<int64_t>(rope_factors.size())},
                                       reinterpret_cast<std::byte*>(rope_factors.data()));
    planned.push_back({kRopeFactorsName, {factors}, DType::F32});
  }
  for (const std::string& name : names_in_order(checkpoint)) {
    const Tensor& weight = checkpoint.weights.at(name);
    const bool may_change = weight.n_dims > 1 && options.type_of;
    const DType type = may_change ? options.type_of(name, weight) : weight.dtype;
    if (!weight_dtype(info(type).name)) {
      throw Error({.what = std::string("weights are not written as ") + info(type).name,
                   .where = "tensor " + name,
                   .expected = supported_weight_types()});
    }
    planned.push_back({name, {weight}, type});
  }
  return planned;
}

bool is_part(const std::string& name, std::string_view part) {
  return name.starts_with("blk.") && name.find("." + std::string(part) + ".") != std::string::npos;
}

// For families that have q, k and v in one tensor.
std::vector<PlannedTensor> fused(const std::vector<PlannedTensor>& planned) {
  std::map<std::string, const PlannedTensor*> by_name;
  for (const PlannedTensor& tensor : planned) by_name.emplace(tensor.name, &tensor);
  std::vector<PlannedTensor> result;
  for (const PlannedTensor& tensor : planned) {
    if (is_part(tensor.name, "attn_k") || is_part(tensor.name, "attn_v")) continue;
    result.push_back(tensor);
    if (!is_part(tensor.name, "attn_q")) continue;
    PlannedTensor& whole = result.back();
    const size_t letter = tensor.name.find("attn_q") + std::string_view("attn_").size();
    whole.name.replace(letter, 1, "qkv");
    for (const char* other : {"k", "v"}) {
      std::string name = tensor.name;
      const auto found = by_name.find(name.replace(letter, 1, other));
      if (found == by_name.end()) throw Error({.what = "the weight is missing", .where = "tensor " + name});
      whole.parts.push_back(found->second->parts.front());
    }
  }
  return result;
}

// As GGUF wants it of this family.
std::vector<PlannedTensor> arranged(std::vector<PlannedTensor> planned, const ModelConfig& config) {
  const Family* family = find_family(config.family);
  if (family == nullptr) return planned;
  if (config.positions == Positions::rope && config.rope_layout == RopeLayout::half_split &&
      family->gguf_rope_layout == RopeLayout::interleaved) {
    for (PlannedTensor& tensor : planned) {
      tensor.is_interleaved = is_part(tensor.name, "attn_q") || is_part(tensor.name, "attn_k");
    }
  }
  return family->gguf_fuses_qkv ? fused(planned) : planned;
}

uint64_t planned_bytes(const PlannedTensor& tensor) { return bytes_of(tensor.type, tensor.elements()); }

void write_parts(const PlannedTensor& tensor, const ModelConfig& config, OutputFile& file) {
  for (Tensor part : tensor.parts) {
    std::vector<std::byte> rows;
    if (tensor.is_interleaved) {
      rows = interleaved_rows(part, config);
      part.data = rows.data();
    }
    write_rows(tensor.name, part, tensor.type, file);
  }
}

// general.file_type: the type that most of the weights have.
uint32_t file_type(const std::vector<PlannedTensor>& planned) {
  std::map<DType, uint64_t> elements;
  for (const PlannedTensor& tensor : planned) elements[tensor.type] += static_cast<uint64_t>(tensor.elements());
  const auto most = std::ranges::max_element(elements, {}, [](const auto& entry) { return entry.second; });
  switch (most == elements.end() ? DType::F32 : most->first) {
    case DType::F16: return 1;
    case DType::Q8_0: return 7;
    case DType::BF16: return 32;
    default: return 0;
  }
}

void add_merges(const Vocabulary& vocabulary, GgufMetadataWriter& metadata) {
  const PreTokenization& rules = vocabulary.pre_tokenization;
  const std::string name = rules.name.empty() ? name_of(rules) : rules.name;
  if (name.empty()) {
    throw Error({.what = "GGUF has no name for the way in which this tokenizer cuts text before merging",
                 .found = rules.patterns.empty() ? "" : rules.patterns.front()});
  }
  metadata.add_text("tokenizer.ggml.pre", name);
  metadata.add_texts("tokenizer.ggml.merges", vocabulary.merges);
}

void add_vocabulary(const Vocabulary& vocabulary, GgufMetadataWriter& metadata) {
  if (vocabulary.empty()) return;
  metadata.add_text("tokenizer.ggml.model", vocabulary.model);
  metadata.add_texts("tokenizer.ggml.tokens", vocabulary.pieces);
  if (vocabulary.model == "gpt2") {
    add_merges(vocabulary, metadata);
  } else {
    metadata.add_floats("tokenizer.ggml.scores", vocabulary.scores);
  }
  std::vector<int32_t> kinds;
  for (const PieceKind kind : vocabulary.kinds) kinds.push_back(static_cast<int32_t>(kind));
  metadata.add_integers("tokenizer.ggml.token_type", kinds);
  if (vocabulary.bos != kNoToken) metadata.add_uint32("tokenizer.ggml.bos_token_id", vocabulary.bos);
  if (vocabulary.unknown != kNoToken) metadata.add_uint32("tokenizer.ggml.unknown_token_id", vocabulary.unknown);
  constexpr std::array kEndKeys = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                   "tokenizer.ggml.eom_token_id"};
  if (vocabulary.end_tokens.size() > kEndKeys.size()) {
    throw Error({.what = "GGUF has no place for so many end tokens",
                 .expected = "at most " + std::to_string(kEndKeys.size()),
                 .found = std::to_string(vocabulary.end_tokens.size())});
  }
  for (size_t i = 0; i < vocabulary.end_tokens.size(); ++i) {
    metadata.add_uint32(kEndKeys[i], vocabulary.end_tokens[i]);
  }
  metadata.add_flag("tokenizer.ggml.add_bos_token", vocabulary.add_bos);
  metadata.add_flag("tokenizer.ggml.add_eos_token", vocabulary.add_eos);
  metadata.add_flag("tokenizer.ggml.add_space_prefix", vocabulary.add_space_prefix);
}

GgufMetadataWriter new_metadata(const Checkpoint& checkpoint, const std::vector<PlannedTensor>& planned) {
  GgufMetadataWriter metadata;
  metadata.add_text("general.architecture", checkpoint.config.family);
  if (!checkpoint.config.name.empty()) metadata.add_text("general.name", checkpoint.config.name);
  const uint32_t type = file_type(planned);
  metadata.add_uint32(kFileTypeKey, type);
  metadata.add_uint32(kQuantizationKey, kQuantizationVersion);
  require_family(checkpoint.config.family, checkpoint.path).to_gguf(checkpoint.config, metadata);
  add_vocabulary(checkpoint.vocabulary, metadata);
  if (!checkpoint.chat_template.empty()) metadata.add_text("tokenizer.chat_template", checkpoint.chat_template);
  return metadata;
}

// The metadata of the file that the checkpoint came from. What it says about types holds no longer when they change;
// the alignment is ours to choose, and there is one part only.
GgufMetadataWriter kept_metadata(const Checkpoint& checkpoint, const std::vector<PlannedTensor>& planned,
                                 bool types_change) {
  GgufMetadataWriter metadata;
  for (size_t i = 0; i < checkpoint.metadata.size(); ++i) {
    const std::string& key = checkpoint.metadata[i].first;
    if (key == kAlignmentKey || key.starts_with(kPartKeys) ||
        (types_change && (key == kFileTypeKey || key == kQuantizationKey)))
      continue;
    metadata.add_encoded(key, checkpoint.encoded_metadata[i]);
  }
  if (types_change) {
    metadata.add_uint32(kFileTypeKey, file_type(planned));
    metadata.add_uint32(kQuantizationKey, kQuantizationVersion);
  }
  return metadata;
}

template <class T>
void write_number(OutputFile& file, T value) {
  file.write(std::as_bytes(std::span(&value, 1)));
}

void write_text(OutputFile& file, std::string_view text) {
  write_number<uint64_t>(file, text.size());
  file.write(text);
}

void write_tensor_list(const std::vector<PlannedTensor>& planned, OutputFile& file) {
  uint64_t offset = 0;
  for (const PlannedTensor& tensor : planned) {
    write_text(file, tensor.name);
    const Tensor& first = tensor.parts.front();
    write_number(file, static_cast<uint32_t>(first.n_dims));
    for (int i = first.n_dims - 1; i > 0; --i) write_number(file, static_cast<uint64_t>(first.shape[i]));
    write_number(file, static_cast<uint64_t>(tensor.rows()));
    write_number(file, ggml_type(tensor.type).id);
    write_number(file, offset);
    offset += planned_bytes(tensor);
    offset += (kDefaultAlignment - offset % kDefaultAlignment) % kDefaultAlignment;
  }
}

}  // namespace

void write_gguf(const std::string& path, const Checkpoint& checkpoint, const GgufWriteOptions& options) {
  if (!checkpoint.obstacle.empty() && !checkpoint.tensors.empty()) {
    throw Error({.what = "the model cannot be written: " + checkpoint.obstacle});
  }
  std::vector<float> rope_factors(checkpoint.rope_factors.begin(), checkpoint.rope_factors.end());
  const std::vector<PlannedTensor> planned = arranged(plan(checkpoint, options, rope_factors), checkpoint.config);
  const bool types_change = std::ranges::any_of(
      planned, [](const PlannedTensor& tensor) { return tensor.type != tensor.parts.front().dtype; });
  GgufMetadataWriter metadata = checkpoint.encoded_metadata.empty() ? new_metadata(checkpoint, planned)
                                                                    : kept_metadata(checkpoint, planned, types_change);
  if (options.add_metadata) options.add_metadata(metadata);
  OutputFile file(path);
  file.write("GGUF");
  write_number<uint32_t>(file, 3);
  write_number<uint64_t>(file, planned.size());
  write_number<uint64_t>(file, metadata.count());
  file.write(metadata.bytes());
  write_tensor_list(planned, file);
  for (const PlannedTensor& tensor : planned) {
    file.pad_to(kDefaultAlignment);
    write_parts(tensor, checkpoint.config, file);
  }
  file.pad_to(kDefaultAlignment);
  file.commit();
}

}  // namespace orrery
