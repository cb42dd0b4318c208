// Mistakes that people make when they write a forward pass, made on purpose: an exercise in finding them, and a test of
// the tools that help. Nothing here is used unless it is asked for by number.
#pragma once

#include <memory>
#include <vector>

#include "kernels/decorated_kernels.h"
#include "model/language_model.h"

namespace orrery {

enum class PlantedBug {
  rope_layout,    // the other one: pairs that stand side by side for halves
  missing_scale,  // scores are not divided by the root of head_dim
  epsilon,        // of the norms: another family's
  missing_bos,    // the prompt without the token that begins a text
  missing_mask,   // a row sees all rows of the call
  head_mapping,   // query head h reads key-value head h % n_kv_heads
  stale_cache,    // another text is still in it
  transposed,     // attention's output matrix
};
inline constexpr int kPlantedBugs = 8;

// Numbers 1 to kPlantedBugs, in an order that tells nothing. Throws Error for others.
PlantedBug planted_bug(int number);
// Throws Error where the bug would change nothing in such a model.
void check_planted_bug(PlantedBug bug, const ModelConfig& config);

// Kernels with the bug, where it is one of kernels.
class PlantedKernels : public DecoratedKernels {
 public:
  PlantedKernels(PlantedBug bug, Kernels& inner) : DecoratedKernels(inner), bug_(bug) {}

  void matmul(const Tensor& x, const Tensor& w, Tensor& y) override;
  void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) override;
  void layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) override;
  void rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
            Tensor& y) override;
  void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                 Tensor& mix) override;
  void attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                        Tensor& scores) override;
  void attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                     Tensor& mix) override;

 private:
  void before(const Operation&) override {}
  void after(const Operation&) override {}

  PlantedBug bug_;
};

// The prompt with the bug, where it is one of prompts. Throws Error for a prompt that has no such token, or only that.
std::vector<TokenId> planted_prompt(PlantedBug bug, std::vector<TokenId> prompt, TokenId bos);
// A new sequence; with the bug, where it is one of caches: the text that was there before has not been forgotten.
std::unique_ptr<SequenceState> planted_sequence(PlantedBug bug, LanguageModel& model, Kernels& kernels);

}  // namespace orrery
