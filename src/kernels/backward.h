// The way back: for every differentiable operation of Kernels one function that turns the gradient of its output into
// the gradients of its inputs, and what an optimizer does with gradients afterwards.
//
// The gradient of a tensor t is d(loss) / d(t), has the shape of t, and is called dt. All gradients are ADDED to what
// the outputs hold already: a tensor that was used twice collects two sums, and so does a weight over several batches.
// clear() sets the start. Weights are of activation_type(), as activations are; nothing is quantised on the way back.
// Outputs may not overlap inputs. Results are the same bits for any number of threads. NaN and infinity come through.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernels.h"

namespace orrery {

// AdamW (Loshchilov and Hutter, 2019): with m and v the running means of the gradient g and of g^2,
// w = w * (1 - rate * weight_decay) - rate * m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + epsilon)
struct AdamWStep {
  double rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  int64_t step = 1;  // the first is 1
};

// b = momentum * b + g + weight_decay * w; w = w - rate * b
struct SgdStep {
  double rate = 0;
  double momentum = 0;
  double weight_decay = 0;
};

class BackwardKernels : public RecurrentBackward, public AdditiveBackward {
 public:
  virtual const char* name() const = 0;
  virtual DType activation_type() const = 0;  // F32 or F64

  virtual void clear(Tensor& gradient) = 0;  // to zeros

  // dtable[ids[n], d] += dy[n, d]; an id may occur many times
  virtual void embed(std::span<const int32_t> ids, const Tensor& dy, Tensor& dtable) = 0;
  // dx[n, in] += dy[n, out] * w[out, in]
  virtual void matmul_input(const Tensor& dy, const Tensor& w, Tensor& dx) = 0;
  // dw[out, in] += dy[n, out]^T * x[n, in]
  virtual void matmul_weight(const Tensor& dy, const Tensor& x, Tensor& dw) = 0;
  // Of either addend: da[n, d] += dy[n, d]; or da[d] += the sum of all rows, where every row got the same a
  virtual void add(const Tensor& dy, Tensor& da) = 0;

  // dx[n, d], dgain[d] (and dbias[d]); n rows are all dimensions but the last
  virtual void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                        Tensor& dgain) = 0;
  virtual void layer_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                          Tensor& dgain, Tensor& dbias) = 0;

  // Turns dy[n, heads * head_dim] back by the same angles
  virtual void rope(const Tensor& dy, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                    Tensor& dx) = 0;

  virtual void activate(Activation activation, const Tensor& x, const Tensor& dy, Tensor& dx) = 0;
  virtual void activate_gated(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& dy,
                              Tensor& dgate, Tensor& dup) = 0;

  // `mix` is what the forward call gave. `dgroups` are the same groups with the gradients of keys and values in the
  // place of keys and values. Scores are computed again, not remembered: n^2 of them would be more than all the rest.
  virtual void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                         const Tensor& mix, const Tensor& dmix, Tensor& dq,
                         std::span<const AttentionGroup> dgroups) = 0;

  // dlogits[n, vocab] += dlosses[n] * (softmax(logits[n]) - 1 at the target). With dlosses[n] = 1 / N the loss is the
  // mean of N tokens; a row whose dlosses[n] is 0 has no part in it, whatever its logits are.
  virtual void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<const double> dlosses,
                             Tensor& dlogits) = 0;

  // What optimizers ask for. The tensors of a step are all of one shape.
  virtual double sum_of_squares(const Tensor& x) = 0;
  virtual void scale(double factor, Tensor& x) = 0;
  // Dropout (Srivastava et al., 2014): each element becomes 0 with probability `share`, the others grow by
  // 1 / (1 - share). The same seed and size choose the same elements, so that the way back needs no mask.
  virtual void drop(double share, uint64_t seed, Tensor& x) = 0;
  virtual void adamw(const AdamWStep& step, const Tensor& dw, Tensor& w, Tensor& mean, Tensor& square) = 0;
  virtual void sgd(const SgdStep& step, const Tensor& dw, Tensor& w, Tensor& momentum) = 0;
};

}  // namespace orrery
