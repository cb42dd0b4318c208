// Kernels around other kernels: every call is announced with what it costs, then made. The counting and the timing
// kernels are two of these.
#pragma once

#include <map>
#include <string>

#include "kernels/kernels.h"

namespace orrery {

// What a call costs on paper. Floating-point operations are counted one by one, a multiply-add as two; how many an
// element takes is set out in decorated_kernels.cpp.
struct Operation {
  const char* name = "";  // of the function: "matmul"
  int64_t flops = 0;
  uint64_t weight_bytes = 0;  // read once from the second operand of a matmul, and from a recurrent layer's matrices
};

class DecoratedKernels : public Kernels {
 public:
  explicit DecoratedKernels(Kernels& inner) : inner_(inner) {}

  const char* name() const override { return inner_.name(); }
  DType activation_type() const override { return inner_.activation_type(); }

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
  void rnn(const RecurrentInput& in, RnnOutput& y) override;
  void lstm(const RecurrentInput& in, LstmOutput& y) override;
  void gru(const RecurrentInput& in, GruReset reset, GruOutput& y) override;
  void attend_additively(const AdditiveInput& in, AdditiveOutput& y) override;
  int64_t first_non_finite(const Tensor& x) override;
  std::vector<Candidate> largest(const Tensor& logits, int64_t count) override;
  void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) override;

 protected:
  virtual void before(const Operation& operation) = 0;
  virtual void after(const Operation& operation) = 0;

 private:
  template <class Call>
  auto announced(const Operation& operation, const Call& call);

  Kernels& inner_;
};

struct OperationTotals {
  int64_t calls = 0;
  int64_t flops = 0;
  uint64_t weight_bytes = 0;
  double seconds = 0;  // TimingKernels only
};
using TotalsByName = std::map<std::string, OperationTotals>;
OperationTotals sum(const TotalsByName& totals);

// How many operations a model really asks for.
class CountingKernels : public DecoratedKernels {
 public:
  using DecoratedKernels::DecoratedKernels;
  const TotalsByName& totals() const { return totals_; }

 private:
  void before(const Operation& operation) override;
  void after(const Operation&) override {}
  TotalsByName totals_;
};

// The same, and where the time goes.
class TimingKernels : public DecoratedKernels {
 public:
  using DecoratedKernels::DecoratedKernels;
  const TotalsByName& totals() const { return totals_; }

 private:
  void before(const Operation&) override;
  void after(const Operation& operation) override;
  TotalsByName totals_;
  double start_ = 0;
};

}  // namespace orrery
