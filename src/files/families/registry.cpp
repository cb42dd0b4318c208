#include <span>

#include "base/error.h"
#include "files/byte_reader.h"
#include "files/families.h"

namespace orrery {
namespace {

constexpr const Family* kFamilies[] = {&kLlamaFamily, &kQwen2Family, &kQwen3Family, &kGemma3Family,
                                       &kGpt2Family,  &kRnnFamily,   &kLstmFamily,  &kGruFamily};
constexpr const FolderLayout* kFolders[] = {&kLlamaFolder,  &kMistralFolder,      &kQwen2Folder, &kQwen3Folder,
                                            &kGemma3Folder, &kGemma3ImagesFolder, &kGpt2Folder,  &kMinGptFolder,
                                            &kRnnFolder,    &kLstmFolder,         &kGruFolder};

[[noreturn]] void fail_unknown(std::string_view name, const std::string& where, const std::string& known) {
  throw Error(
      {.what = "models of the family " + (name.empty() ? std::string("\"\"") : short_name(name)) + " are not supported",
       .where = where,
       .expected = "one of " + known});
}

}  // namespace

const Family* find_family(std::string_view name) {
  for (const Family* family : kFamilies) {
    if (family->name == name) return family;
  }
  return nullptr;
}

const Family& require_family(std::string_view name, const std::string& where) {
  if (const Family* family = find_family(name)) return *family;
  std::string known;
  for (const Family* family : kFamilies) known += (known.empty() ? "" : ", ") + std::string(family->name);
  fail_unknown(name, where, known);
}

const FolderLayout& require_folder_layout(std::string_view model_type, const std::string& where) {
  std::string known;
  for (const FolderLayout* folder : kFolders) {
    if (folder->obstacle != nullptr) {
      if (folder->model_type == model_type) throw Error({.what = folder->obstacle, .where = where});
      continue;
    }
    if (folder->model_type == model_type) return *folder;
    known += (known.empty() ? "" : ", ") + std::string(folder->model_type);
  }
  fail_unknown(model_type, where, known);
}

}  // namespace orrery
