#include "tensor/dtype.h"

#include <array>
#include <cctype>
#include <string>

namespace orrery {
namespace {

constexpr std::array kInfos = {
    DTypeInfo{"F32", 1, 4}, DTypeInfo{"F16", 1, 2},    DTypeInfo{"BF16", 1, 2},
    DTypeInfo{"F64", 1, 8}, DTypeInfo{"Q8_0", 32, 34},
};

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (upper == kInfos[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace orrery
