// The operations as a laptop should run them: activations in F32, weights and keys in the type they are stored in,
// inner loops for the CPU at hand, work shared out to threads in pieces that depend on shapes alone. So results are the
// same bits for any number of threads. They differ in the last digits from the reference, and between few rows and
// many in one call.
//
//   matmul.cpp                            few rows: dot products while weights stream by; many rows: tiles by BLAS
//   attention.cpp                         shares out groups to the two kinds of attention
//   attention_chunks.cpp                  few rows: chunks of keys, added up at the end
//   attention_blocks.cpp                  many rows: blocks of rows, chunk after chunk
//   attention_steps.cpp                   scores, softmax and mix as tensors that can be looked at
//   logits.cpp                            what samplers and losses ask
//   recurrent.cpp, recurrent_steps.cpp    layers of recurrent networks, time step after time step
//   additive.cpp                          additive attention, there and back
//   isa/                                  the inner loops
#pragma once

#include <initializer_list>
#include <vector>

#include "base/parallel.h"
#include "kernels/fast/instruction_set.h"
#include "kernels/fast/isa/recurrent_loops.h"
#include "kernels/fast/scratch.h"
#include "kernels/kernels.h"

namespace orrery {

class FastKernels : public Kernels {
 public:
  // Throws Error where the instruction set is not supported.
  explicit FastKernels(Threads threads, InstructionSet instruction_set = best_instruction_set());

  const char* name() const override { return "fast"; }
  DType activation_type() const override { return DType::F32; }
  InstructionSet instruction_set() const { return instruction_set_; }

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

 private:
  void matmul_few_rows(const Tensor& x, const Tensor& w, Tensor& y);
  void matmul_in_tiles(const Tensor& x, const Tensor& w, Tensor& y);
  void multiply_inputs(const RecurrentInput& in, std::initializer_list<Tensor*> gates);

  struct AttentionCall;  // the arguments of attention(), and what follows from them
  using Groups = std::span<const AttentionGroup* const>;

  struct ChunkTask;  // one chunk of keys of one group
  void attend_by_chunks(const AttentionCall& call, Groups groups);
  void attend_to_chunk(const AttentionCall& call, const ChunkTask& task);

  struct BlockTask;  // some rows of one group, and one key-value head,
  struct Block;      // and what is known of them so far
  void attend_by_blocks(const AttentionCall& call, Groups groups);
  void attend_block(const AttentionCall& call, const BlockTask& task);

  Threads threads_;
  InstructionSet instruction_set_;
  const Loops& loops_;
  const RecurrentLoops& recurrent_loops_;
  ScratchPool scratch_;
  std::vector<float> partials_;  // of attention over chunks; grows as far as it has to
};

}  // namespace orrery
