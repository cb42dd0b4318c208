// The decoder-only transformer (Vaswani et al., 2017, in the pre-norm form of GPT-2 and Llama). forward() is written
// once; the Kernels under it decide whether it runs fast, in double precision, counted, timed or recorded.
#pragma once

#include <memory>

#include "files/checkpoint.h"
#include "model/language_model.h"
#include "model/pass.h"
#include "model/weights.h"

namespace orrery {

struct TransformerOptions {
  int context_length = 0;         // 0: what the file says
  DType key_type = DType::F32;    // of the KV cache: F32, F16, BF16 or F64
  DType value_type = DType::F32;  //
};

class Transformer : public LanguageModel {
 public:
  // Throws Error for missing or misshapen weights and for a context longer than the model knows.
  explicit Transformer(std::shared_ptr<const Checkpoint> checkpoint, const TransformerOptions& options = {});

  const ModelConfig& config() const override { return checkpoint_->config; }
  int context_length() const override { return context_length_; }
  const TransformerWeights& weights() const { return weights_; }

  std::unique_ptr<SequenceState> new_sequence() override;
  Tensor forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                 std::span<Observer* const> observers = {}) override;
  // The last step of forward(): from any residual x [n, d_model] of these rows to logits [rows that want them, vocab].
  Tensor head(Pass& pass, const Tensor& x) const;

 protected:
  Pass begin(std::span<const Row> rows, Kernels& kernels, Arena& arena, std::span<Observer* const> observers);
  RopeAngles angles(Pass& pass, std::span<const double> frequencies) const;
  Tensor embed(Pass& pass) const;
  Tensor block(Pass& pass, const Tensor& x) const;
  Tensor attention(Pass& pass, const Tensor& x) const;
  Tensor attend(Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v) const;
  void attend_visibly(Pass& pass, const AttentionShape& shape, size_t sequence, const AttentionGroup& group,
                      const Tensor& q, Tensor& mix) const;
  Tensor feed_forward(Pass& pass, const Tensor& x) const;

  Tensor norm(Pass& pass, const char* name, const NormWeights& weights, const Tensor& x) const;
  Tensor head_norm(Pass& pass, const char* name, const NormWeights& weights, const Tensor& x) const;
  Tensor rope(Pass& pass, const char* name, const Tensor& x) const;
  Tensor linear(Pass& pass, const char* name, const LinearWeights& weights, const Tensor& x) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  TransformerWeights weights_;
  std::vector<double> rope_frequencies_;   // radians per position, one for each pair
  std::vector<double> local_frequencies_;  // of windowed layers; empty: the same
  int context_length_ = 0;
  std::shared_ptr<KvPool> pool_;
};

}  // namespace orrery
