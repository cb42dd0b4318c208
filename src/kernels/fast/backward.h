// The way back as a laptop should run it, in F32: inner loops for the CPU at hand, matrix products by BLAS on tiles,
// work shared out in pieces that depend on shapes alone, sums over rows made piece by piece and added in order. So
// results are the same bits for any number of threads.
//
//   backward.cpp                          norms, rotations, activations, tables
//   backward_matmul.cpp                   both products of matmul's way back
//   backward_attention.cpp                blocks of queries, scores computed again
//   recurrent_backward.cpp                layers of recurrent networks, from the last time step to the first
//   backward_update.cpp                   the loss, and what optimizers ask for
//   isa/backward_*.cpp                    the inner loops
#pragma once

#include <initializer_list>
#include <vector>

#include "base/parallel.h"
#include "kernels/backward.h"
#include "kernels/fast/instruction_set.h"
#include "kernels/fast/isa/backward_loops.h"
#include "kernels/fast/scratch.h"

namespace orrery {

class FastBackward : public BackwardKernels {
 public:
  // Throws Error where the instruction set is not supported.
  explicit FastBackward(Threads threads, InstructionSet instruction_set = best_instruction_set());

  const char* name() const override { return "fast"; }
  DType activation_type() const override { return DType::F32; }

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
  void rnn(const RecurrentInput& in, const RnnOutput& y, const Tensor& dhidden, RecurrentGradients& d) override;
  void lstm(const RecurrentInput& in, const LstmOutput& y, const Tensor& dcell, const Tensor& dhidden,
            RecurrentGradients& d) override;
  void gru(const RecurrentInput& in, GruReset reset, const GruOutput& y, const Tensor& dhidden,
           RecurrentGradients& d) override;
  void attend_additively(const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                         AdditiveGradients& d) override;
  double sum_of_squares(const Tensor& x) override;
  void scale(double factor, Tensor& x) override;
  void drop(double share, uint64_t seed, Tensor& x) override;
  void adamw(const AdamWStep& step, const Tensor& dw, Tensor& w, Tensor& mean, Tensor& square) override;
  void sgd(const SgdStep& step, const Tensor& dw, Tensor& w, Tensor& momentum) override;

 private:
  // Sums over rows: body(row, parts) adds what row has to give to parts[i][width], of which every piece of rows has its
  // own; these are added to totals[i], piece after piece.
  template <class Body>
  void sum_over_rows(int64_t n_rows, int64_t width, const Body& body, std::initializer_list<float*> totals);
  static constexpr int kMostTotals = 2;

  struct AttentionCall;  // the arguments of attention(), and what follows from them
  struct Head;           // one key-value head of one group,
  struct Block;          // and some of the queries that read it
  void attend_head(const AttentionCall& call, const Head& head);

  void give_input(const RecurrentInput& in, const Tensor& slopes, int64_t first, RecurrentGradients& d);
  void give_hidden(const Tensor& slopes, const Tensor& before, int64_t first, RecurrentGradients& d);
  struct GruWalk;
  void gru_after(const RecurrentInput& in, const GruOutput& y, const Tensor& dhidden, RecurrentGradients& d);
  void gru_before(const RecurrentInput& in, const GruOutput& y, const Tensor& dhidden, RecurrentGradients& d);

  Threads threads_;
  const Loops& loops_;
  const BackwardLoops& back_;
  const RecurrentLoops& recurrent_loops_;
  ScratchPool scratch_;
  std::vector<float> partials_;          // of sums over rows
  std::vector<float> recurrent_memory_;  // slopes of all time steps; grows as far as it has to
};

}  // namespace orrery
