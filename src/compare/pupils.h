// Who learns what: language models texts and recall, encoder-decoders their tasks.
#pragma once

#include <memory>
#include <vector>

#include "compare/contestant.h"
#include "compare/pupil.h"
#include "compare/recall_task.h"
#include "compare/sequence_learning.h"
#include "compare/text_data.h"
#include "learn/gradients.h"

namespace orrery {

// Judged by its loss on held-out text.
class TextPupil : public Pupil {
 public:
  // The text must outlive it.
  TextPupil(const Contestant& contestant, const TextData& data, int64_t tokens_per_step, const Threads& threads,
            uint64_t seed);
  Parameters& parameters() override { return learner_->parameters; }
  BackwardKernels& backward_kernels() override { return *learner_->backward; }
  Batch add_gradients() override;
  double judge() override;

 private:
  std::unique_ptr<Learner> learner_;
  GradientMaker maker_;
  Packer packer_;
  std::vector<Sample> held_out_;
  int64_t tokens_per_step_;
};

// Learns to recall over noise of all lengths up to a longest: what it finds out over a short one it can try over a long
// one. Judged by the share of right answers to new questions of that kind.
class RecallPupil : public Pupil {
 public:
  RecallPupil(const Contestant& contestant, const RecallTask& task, int longest_noise, int64_t tokens_per_step,
              const Threads& threads, uint64_t seed);
  Parameters& parameters() override { return learner_->parameters; }
  BackwardKernels& backward_kernels() override { return *learner_->backward; }
  Batch add_gradients() override;
  double judge() override;
  // Share of right answers to so many new questions over so much noise.
  double accuracy(int noise, int questions);

 private:
  RecallTask::Question question(Random& random) const;
  double right(std::span<const RecallTask::Question> questions);

  std::unique_ptr<Learner> learner_;
  GradientMaker maker_;
  RecallTask task_;
  int longest_noise_;
  int64_t tokens_per_step_;
  Random random_;
};

// Learns a task on lengths up to `longest`; judged by the share of targets that it gets right, of new pairs.
class SequencePupil : public Pupil {
 public:
  // The task must outlive it.
  SequencePupil(const SequencePlan& plan, const SequenceTask& task, int longest, int pairs_per_step,
                const Threads& threads, uint64_t seed);
  Parameters& parameters() override { return learner_.parameters(); }
  BackwardKernels& backward_kernels() override { return learner_.backward_kernels(); }
  Batch add_gradients() override;
  double judge() override;
  double accuracy(int length, int pairs);
  SequenceLearner& learner() { return learner_; }

 private:
  SequenceLearner learner_;
  const SequenceTask& task_;
  int longest_, pairs_per_step_;
  Random random_;
};

}  // namespace orrery
