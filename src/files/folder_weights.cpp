// From the tensors of a folder's files to weights: by other names, some cut out of a fused matrix, some transposed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "files/folder.h"
#include "files/weight_list.h"
#include "files/weights_in_memory.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

// "weight" or "bias": what follows the last dot.
std::string_view kind_of(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string_view base_of(std::string_view name) { return name.substr(0, name.rfind('.')); }

// In F32, as a norm is computed with: 1 + w in the file's type would lose what w says.
void add_norm_plus_one(const FileTensor& tensor, DType dtype, const std::byte* data, Checkpoint& checkpoint) {
  const auto n = static_cast<size_t>(tensor.shape[0]);
  const auto gain = std::make_shared<std::vector<float>>(n);
  auto* bytes = reinterpret_cast<std::byte*>(gain->data());
  convert_row(dtype, data, DType::F32, bytes, tensor.shape[0]);
  for (float& value : *gain) value += 1;
  checkpoint.owners.push_back(gain);
  checkpoint.weights.insert_or_assign(tensor.name, make_tensor(tensor.name, DType::F32, tensor.shape, bytes));
  checkpoint.copies.push_back({tensor.name, "one added: the file has what a norm is more than 1", n * sizeof(float)});
}

const FolderName* find_rule(std::span<const FolderName> rules, std::string_view ours) {
  const auto found = std::ranges::find(rules, ours, &FolderName::ours);
  return found == rules.end() ? nullptr : &*found;
}

// The part of `source` [in, n_columns] that stands in the columns from `first` on, as [out, in].
void transpose(const std::byte* source, int64_t n_columns, int64_t first, size_t element, int64_t n_out, int64_t n_in,
               std::byte* target) {
  for (int64_t out = 0; out < n_out; ++out) {
    for (int64_t in = 0; in < n_in; ++in) {
      std::memcpy(target + static_cast<size_t>(out * n_in + in) * element,
                  source + static_cast<size_t>(in * n_columns + first + out) * element, element);
    }
  }
}

}  // namespace

FolderTensors::FolderTensors(std::string folder, const FolderLayout& layout, std::vector<SafetensorsFile> files)
    : folder_(std::move(folder)), layout_(layout), files_(std::move(files)) {
  for (const SafetensorsFile& file : files_) {
    for (const FileTensor& tensor : file.tensors) {
      if (!tensors_.emplace(tensor.name, Place{&tensor, &file}).second) {
        throw Error({.what = "the tensor is in two files", .where = folder_ + ": tensor " + tensor.name});
      }
      if (tensor.name.starts_with(layout.prefix)) prefix_ = layout.prefix;
    }
  }
}

FolderTensors::Source FolderTensors::source_of(const std::string& our_name) const {
  if (layout_.find_name != nullptr) {
    const auto is_there = [&](const std::string& name) { return tensors_.contains(name); };
    return {layout_.find_name(our_name, is_there), nullptr, false};
  }
  const std::string suffix = "." + std::string(kind_of(our_name));
  std::string base = our_name.substr(0, our_name.size() - suffix.size());
  if (base == "output") return {std::string(layout_.head) + suffix, nullptr, false};
  std::string begin = prefix_;
  const bool is_of_block = base.starts_with("blk.");
  if (is_of_block) {
    const size_t dot = base.find('.', 4);
    begin += std::string(layout_.layers) + base.substr(4, dot - 3);  // "layers.7."
    base.erase(0, dot + 1);
  }
  const FolderName* rule = find_rule(is_of_block ? layout_.block : layout_.outer, base);
  const std::string theirs = rule == nullptr ? base : std::string(rule->theirs);
  return {begin + theirs + suffix, rule, is_of_block && layout_.blocks_are_transposed && suffix == ".weight"};
}

bool FolderTensors::has(const std::string& our_name) const { return tensors_.contains(source_of(our_name).name); }

void FolderTensors::add_weight(const Source& source, const Place& place, const std::string& name,
                               const std::vector<int64_t>& shape, Checkpoint& checkpoint) const {
  const FileTensor& tensor = *place.tensor;
  const std::string where = folder_ + ": tensor " + tensor.name;
  const auto dtype = safetensors_dtype(tensor.type);
  if (!dtype) {
    throw Error({.what = "weights of the type " + tensor.type + " are not supported",
                 .where = where,
                 .expected = "F32, F16, BF16 or F64",
                 .hint = "fetch the model in one of these types"});
  }
  const int part = source.rule == nullptr ? 0 : source.rule->part;
  const int n_parts = source.rule == nullptr ? 1 : source.rule->n_parts;
  const bool is_transposed = source.is_transposed && shape.size() == 2;
  std::vector<int64_t> theirs = shape;
  theirs.front() *= n_parts;
  if (is_transposed) std::swap(theirs[0], theirs[1]);
  if (tensor.shape != theirs) {
    throw Error({.what = "the weight has another shape than the model says",
                 .where = where,
                 .expected = shape_text(theirs),
                 .found = shape_text(tensor.shape)});
  }
  FileTensor ours = {name, tensor.type, shape, tensor.offset, tensor.bytes / static_cast<uint64_t>(n_parts)};
  const std::byte* data = place.file->file->bytes().data() + tensor.offset;
  if (layout_.norms_lack_one && shape.size() == 1 && base_of(name).ends_with("norm")) {
    add_norm_plus_one(ours, *dtype, data, checkpoint);
    return;
  }
  if (!is_transposed) {
    add_mapped_weight(ours, *dtype, data + ours.bytes * static_cast<uint64_t>(part), checkpoint);
    return;
  }
  const std::shared_ptr<std::byte[]> copy(new std::byte[ours.bytes]);
  transpose(data, theirs[1], part * shape[0], bytes_of(*dtype, 1), shape[0], shape[1], copy.get());
  checkpoint.owners.push_back(copy);
  add_mapped_weight(ours, *dtype, copy.get(), checkpoint);
  checkpoint.copies.push_back({name, "transposed: the file has it as [in, out]", ours.bytes});
}

// A tensor that the model does not use would change what it computes: better no model than a wrong one.
void FolderTensors::refuse_unused(const std::unordered_set<std::string>& used, const ModelConfig& config) const {
  for (const auto& [name, place] : tensors_) {
    const bool is_ignored =
        std::ranges::any_of(layout_.ignored, [&name = name](std::string_view end) { return name.ends_with(end); });
    // transformers ties what the config says is tied, whatever else the file has.
    const bool is_replaced = config.tied_head && name == std::string(layout_.head) + ".weight";
    if (is_ignored || is_replaced || used.contains(name)) continue;
    throw Error({.what = "the model has a weight that the family " + config.family +
                         " does not use, so it is not the model it says it is",
                 .where = folder_ + ": tensor " + name});
  }
}

void FolderTensors::add_to(Checkpoint& checkpoint) const {
  // Before there is a list of all that a config with a million layers needs.
  if (static_cast<size_t>(checkpoint.config.n_layers) > tensors_.size()) {
    throw Error({.what = "the files have not the weights of as many layers as config.json says",
                 .where = folder_,
                 .expected = std::to_string(checkpoint.config.n_layers) + " layers",
                 .found = std::to_string(tensors_.size()) + " tensors"});
  }
  std::unordered_set<std::string> used;
  for (const NamedShape& weight : weight_shapes(checkpoint.config)) {
    const Source source = source_of(weight.name);
    const auto found = tensors_.find(source.name);
    if (found == tensors_.end()) {
      throw Error({.what = "the weight is missing",
                   .where = folder_ + ": tensor " + source.name,
                   .expected = "one of shape " + shape_text(weight.shape)});
    }
    used.insert(source.name);
    add_weight(source, found->second, weight.name, weight.shape, checkpoint);
  }
  refuse_unused(used, checkpoint.config);
}

}  // namespace orrery
