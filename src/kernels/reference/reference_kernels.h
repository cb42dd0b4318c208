// Every operation as plain loops, in float or in double: what to read first, what the fast kernels are tested against,
// and, in double, the oracle that tells a bug from rounding. Compiled without fused multiply-add, so that the order of
// operations is the one written here.
#pragma once

#include "base/parallel.h"
#include "kernels/reference/additive.h"

namespace orrery {

template <class T>
class ReferenceKernels : public ReferenceAdditive<T> {
 public:
  explicit ReferenceKernels(Threads threads) : threads_(threads) {}

  const char* name() const override;
  DType activation_type() const override;

  void embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) override;
  void matmul(const Tensor& x, const Tensor& w, Tensor& y) override;
  void add(const Tensor& a, const Tensor& b, Tensor& y) override;
  void scale(const Tensor& x, double factor, Tensor& y) override;
  void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) override;
  void layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) override;
  void rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                   Tensor& sine) override;
  void rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
            Tensor& y) override;
  void activate(Activation activation, const Tensor& x, Tensor& y) override;
  void activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) override;
  void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                 Tensor& mix) override;
  void attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                        Tensor& scores) override;
  void softmax(const Tensor& x, Tensor& y) override;
  void attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                     Tensor& mix) override;
  void convert(const Tensor& x, Tensor& y) override;
  int64_t first_non_finite(const Tensor& x) override;
  std::vector<Candidate> largest(const Tensor& logits, int64_t count) override;
  void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) override;

 private:
  Threads threads_;
};

extern template class ReferenceKernels<float>;
extern template class ReferenceKernels<double>;

}  // namespace orrery
