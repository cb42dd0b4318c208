// safetensors (https://huggingface.co/docs/safetensors): 8 bytes that say how long the header is, a header in JSON,
// and the tensors one after the other without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "files/checkpoint.h"
#include "tensor/dtype.h"

namespace orrery {

struct SafetensorsFile {
  std::shared_ptr<const MappedFile> file;
  std::vector<FileTensor> tensors;  // by their place in the file; inside it, without overlap
  std::map<std::string, std::string> metadata;
};

constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // bytes; the limit of the reference implementation

// Throws Error for a broken file, in the sense of the reference implementation: also for bytes that belong to no
// tensor, and for a type whose size is not known.
SafetensorsFile read_safetensors(const std::string& path);

// The weights of a folder: model.safetensors, or the files that model.safetensors.index.json lists. Those must be plain
// names of files in the folder. Throws Error for a tensor that is in two files, or is not in the file that the index
// says it is in.
std::vector<SafetensorsFile> read_safetensors_folder(const std::string& folder);
bool has_safetensors(const std::string& folder);  // one of the two is there

// The type of ours that this one is, where weights of it can be computed with: F32, F16, BF16, F64.
std::optional<DType> safetensors_dtype(std::string_view name);
// Of one element of any type of the format; 0 for what is none.
uint64_t safetensors_element_bytes(std::string_view type);

}  // namespace orrery
