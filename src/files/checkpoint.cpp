#include "files/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "files/folder.h"
#include "files/gguf.h"
#include "files/llama2c.h"
#include "files/torch_recurrent.h"

namespace orrery {
namespace {

// Files that people give by mistake, by how they begin.
constexpr struct {
  std::string_view begin;
  const char* what;
  const char* hint;
} kOtherFiles[] = {
    {"version https://git-lfs", "this is a Git LFS pointer, not the model itself", "fetch the file with git lfs pull"},
    {"<!DOCTYPE", "this is a web page, not a model", "the download went wrong: fetch the file again"},
    {"<html", "this is a web page, not a model", "the download went wrong: fetch the file again"},
    {"PK\x03\x04", "this is a PyTorch or zip archive", "convert it to GGUF"},
    {"\x1F\x8B", "this is a gzip archive", "unpack it first"},
    {"lmgg", "this is a GGML file, the format before GGUF", "convert it to GGUF"},
    {"fmgg", "this is a GGMF file, a format before GGUF", "convert it to GGUF"},
    {"tjgg", "this is a GGJT file, a format before GGUF", "convert it to GGUF"},
};

[[noreturn]] void fail_unknown_format(const MappedFile& file, std::string_view begin) {
  for (const auto& other : kOtherFiles) {
    if (begin.starts_with(other.begin)) throw Error({.what = other.what, .where = file.path(), .hint = other.hint});
  }
  throw Error({.what = "this is not a model file of a kind known here",
               .where = file.path(),
               .expected = "GGUF, a llama2.c .bin, safetensors, or the folder of a model"});
}

}  // namespace

const Tensor* Checkpoint::find_weight(const std::string& name) const {
  const auto found = weights.find(name);
  return found == weights.end() ? nullptr : &found->second;
}

const Tensor& Checkpoint::weight(const std::string& name, std::initializer_list<int64_t> shape) const {
  const std::span<const int64_t> wanted(shape.begin(), shape.size());
  const Tensor* found = find_weight(name);
  if (found == nullptr && weights.empty() && tensors.empty()) {
    throw Error({.what = "the file holds a vocabulary and no weights",
                 .where = path,
                 .hint = "it can tokenize, but not compute"});
  }
  if (found == nullptr) {
    throw Error({.what = "the weight is missing",
                 .where = path + ": tensor " + name,
                 .expected = "one of shape " + shape_text(wanted)});
  }
  const std::span<const int64_t> there(found->shape, static_cast<size_t>(found->n_dims));
  if (!std::equal(there.begin(), there.end(), wanted.begin(), wanted.end())) {
    throw Error({.what = "the weight has another shape than the model says",
                 .where = path + ": tensor " + name,
                 .expected = shape_text(wanted),
                 .found = shape_text(there)});
  }
  return *found;
}

Checkpoint load_checkpoint(const std::string& path, const LoadOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return folder_checkpoint(path, options);
  auto file = std::make_shared<const MappedFile>(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (is_gguf(*file)) return gguf_checkpoint(std::move(file), options);
  if (is_safetensors(*file)) return safetensors_checkpoint(path, options);
  if (is_llama2c(*file)) return llama2c_checkpoint(std::move(file), options);
  fail_unknown_format(*file, text);
}

}  // namespace orrery
