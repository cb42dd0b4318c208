// Which tensors a model announces, so that a name can be checked before anything is computed for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/language_model.h"

namespace orrery {

struct AnnouncedTensor {
  std::string name;
  int n_dims = 0;
  int64_t width = 0;  // of the last dimension; of attention scores and weights it is the number of keys, and changes
};

// In the order of their announcement. Computes one token (the first of the vocabulary, alone): the model itself knows
// best what it announces.
std::vector<AnnouncedTensor> announced_tensors(LanguageModel& model, Kernels& kernels);

// Error for a name that no tensor has, with those that are the most like it.
[[noreturn]] void fail_unknown_name(const std::string& name, const std::string& where,
                                    std::span<const AnnouncedTensor> tensors);

}  // namespace orrery
