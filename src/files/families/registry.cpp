#include <iterator>

#include "base/error.h"
#include "files/byte_reader.h"
#include "files/families.h"

namespace orrery {
namespace {

constexpr const Family* kFamilies[] = {&kLlamaFamily};

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
  throw Error(
      {.what = "models of the family " + (name.empty() ? std::string("\"\"") : short_name(name)) + " are not supported",
       .where = where,
       .expected = std::size(kFamilies) == 1 ? known : "one of " + known});
}

}  // namespace orrery
