#include "learn/dropout.h"

#include <string>
#include <string_view>

#include "base/error.h"

namespace orrery {
namespace {

constexpr std::string_view kGradient = ".grad";

std::string_view without_gradient(std::string_view name) {
  if (name.ends_with(kGradient)) name.remove_suffix(kGradient.size());
  return name;
}

// FNV-1a (Fowler, Noll and Vo), so that no two tensors have the same mask.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

Dropout::Dropout(double share, uint64_t seed, BackwardKernels& kernels)
    : share_(share), seed_(seed), kernels_(kernels) {
  if (share >= 0 && share < 1) return;
  throw Error({.what = "dropout cannot take such a share",
               .where = "dropout",
               .expected = "0 up to, but not, 1",
               .found = std::to_string(share)});
}

bool Dropout::wants(const Probe& probe) const {
  if (share_ == 0) return false;
  const std::string_view name = without_gradient(probe.name);
  return name == "embed" || (probe.layer >= 0 && name.ends_with(".out"));
}

void Dropout::on_tensor(const Probe& probe, Tensor& tensor) {
  const uint64_t seed = seed_ * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(call_) * 0xD1B54A32D192ED03u;
  kernels_.drop(share_, seed ^ hash_of(without_gradient(probe.name)), tensor);
}

}  // namespace orrery
