// Models and passes that several tests need.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "files/checkpoint.h"
#include "kernels/kernels.h"
#include "model/transformer.h"

namespace orrery::test {

// A small config; `variant` walks through what families differ in: norms, positions, gating, biases, heads, norms,
// windows.
ModelConfig small_config(int variant);
constexpr int kVariants = 8;

std::shared_ptr<const Checkpoint> random_model(const ModelConfig& config, DType matrices, uint64_t seed = 1);

std::vector<TokenId> random_ids(int count, int vocab_size, uint64_t seed);

// Copies of logits (or any F32 or F64 tensor) as doubles.
std::vector<double> numbers(const Tensor& tensor);
double largest_magnitude(std::span<const double> values);
double largest_difference(std::span<const double> a, std::span<const double> b);

// Logits of every row, [ids.size() * vocab], computed in calls of these sizes over one sequence with a cache.
std::vector<double> cached_logits(LanguageModel& model, Kernels& kernels, std::span<const TokenId> ids,
                                  std::span<const int> split);
// The same in one call without a state.
std::vector<double> uncached_logits(LanguageModel& model, Kernels& kernels, std::span<const TokenId> ids);

}  // namespace orrery::test
