// The way back as plain loops, in float or in double: what to read first, and what the fast one is tested against.
// Compiled without fused multiply-add.
#pragma once

#include "base/parallel.h"
#include "kernels/reference/additive.h"

namespace orrery {

template <class T>
class ReferenceBackward : public ReferenceAdditiveBackward<T> {
 public:
  explicit ReferenceBackward(Threads threads) : threads_(threads) {}

  const char* name() const override { return sizeof(T) == 4 ? "reference" : "reference (double)"; }
  DType activation_type() const override { return sizeof(T) == 4 ? DType::F32 : DType::F64; }

  void clear(Tensor& gradient) override;
  void embed(std::span<const int32_t> ids, const Tensor& dy, Tensor& dtable) override;
  void matmul_input(const Tensor& dy, const Tensor& w, Tensor& dx) override;
  void matmul_weight(const Tensor& dy, const Tensor& x, Tensor& dw) override;
  void add(const Tensor& dy, Tensor& da) override;
  void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                Tensor& dgain) override;
  void layer_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx, Tensor& dgain,
                  Tensor& dbias) override;
  void rope(const Tensor& dy, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
            Tensor& dx) override;
  void activate(Activation activation, const Tensor& x, const Tensor& dy, Tensor& dx) override;
  void activate_gated(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& dy, Tensor& dgate,
                      Tensor& dup) override;
  void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                 const Tensor& mix, const Tensor& dmix, Tensor& dq, std::span<const AttentionGroup> dgroups) override;
  void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<const double> dlosses,
                     Tensor& dlogits) override;
  double sum_of_squares(const Tensor& x) override;
  void scale(double factor, Tensor& x) override;
  void drop(double share, uint64_t seed, Tensor& x) override;
  void adamw(const AdamWStep& step, const Tensor& dw, Tensor& w, Tensor& mean, Tensor& square) override;
  void sgd(const SgdStep& step, const Tensor& dw, Tensor& w, Tensor& momentum) override;

 private:
  Threads threads_;
};

extern template class ReferenceBackward<float>;
extern template class ReferenceBackward<double>;

}  // namespace orrery
