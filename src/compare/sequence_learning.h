// Encoder-decoders that learn a task: all that one needs, its training steps, and how often it is right.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "compare/recurrent_sequence.h"
#include "compare/sequence_transformer.h"
#include "compare/tasks.h"
#include "kernels/backward.h"
#include "learn/tape.h"

namespace orrery {

enum class SequenceKind { gru, gru_additive, gru_dot, transformer };
const char* name_of(SequenceKind kind);
std::vector<SequenceKind> all_sequence_kinds();

// A kind of model of about so many parameters for a task: of all widths the nearest.
struct SequencePlan {
  SequenceKind kind = SequenceKind::gru;
  RecurrentSequenceShape recurrent = {};
  SequenceTransformerShape transformer = {};

  std::vector<NamedShape> weights() const;
  int64_t parameters() const;
  std::string description() const;  // "GRU encoder in both directions and GRU decoder, width 64"
};
SequencePlan plan_of(SequenceKind kind, const SequenceTask& task, int64_t parameters);

// Tokens of pairs; a source has an end, a target a begin and an end.
struct SequenceBatch {
  std::vector<std::vector<TokenId>> sources, targets;
  int64_t tokens() const;  // of the targets, that are to be guessed
};
SequenceBatch batch_of(const SequenceTask& task, std::span<const SequencePair> pairs);
// `count` random pairs of lengths from `shortest` to `longest`, each as likely as any other.
std::vector<SequencePair> random_pairs(const SequenceTask& task, int count, int shortest, int longest, Random& random);

class SequenceLearner {
 public:
  // Random weights that depend on the seed alone: of a GRU uniform within 1 / sqrt(width), as PyTorch has them; of a
  // transformer as `initialize` has them. F32: the fast kernels; F64: the reference ones.
  SequenceLearner(const SequencePlan& plan, DType dtype, const Threads& threads, uint64_t seed);

  // Mean loss over the batch's targets in nats per token; adds its gradient to the parameters'.
  double add_gradients(const SequenceBatch& batch);
  double loss(const SequenceBatch& batch);
  // Share of the pairs whose whole target comes out right, decoded greedily.
  double accuracy(const SequenceTask& task, std::span<const SequencePair> pairs);

  SequenceModel& model() { return *model_; }
  Parameters& parameters() { return parameters_; }
  Kernels& kernels() { return *forward_; }
  BackwardKernels& backward_kernels() { return *backward_; }

 private:
  double forward(const SequenceBatch& batch, Kernels& kernels);

  Parameters parameters_;
  std::unique_ptr<Kernels> forward_;
  std::unique_ptr<BackwardKernels> backward_;
  std::unique_ptr<SequenceModel> model_;
  Tape tape_;
  Arena arena_;
  std::vector<double> dlosses_;
};

}  // namespace orrery
