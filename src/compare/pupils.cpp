#include "compare/pupils.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr uint64_t kJudge = 1000003;  // seeds of what pupils are judged by, away from those of what they learn from

}  // namespace

TextPupil::TextPupil(const Contestant& contestant, const TextData& data, int64_t tokens_per_step,
                     const Threads& threads, uint64_t seed)
    : learner_(make_learner(contestant, threads, seed)),
      maker_(*learner_->model, *learner_->forward, *learner_->backward, learner_->parameters),
      packer_(*data.training, data.context, tokens_per_step, seed),
      held_out_(data.held_out->pieces(data.context, 4096)),
      tokens_per_step_(tokens_per_step) {}

Pupil::Batch TextPupil::add_gradients() {
  const std::vector<Sample> batch = packer_.next();
  const double tokens = total_weight(batch);
  return {maker_.add_gradients(batch, tokens), static_cast<int64_t>(tokens)};
}

// In pieces, for a call with all of it would take more memory than training.
double TextPupil::judge() {
  const double all = total_weight(held_out_);
  double loss = 0;
  size_t begin = 0;
  while (begin < held_out_.size()) {
    size_t end = begin;
    int64_t rows = 0;
    while (end < held_out_.size() && (end == begin || rows < tokens_per_step_)) {
      rows += static_cast<int64_t>(held_out_[end++].tokens.size());
    }
    loss += maker_.loss(std::span(held_out_).subspan(begin, end - begin), all);
    begin = end;
  }
  return loss;
}

RecallPupil::RecallPupil(const Contestant& contestant, const RecallTask& task, int longest_noise,
                         int64_t tokens_per_step, const Threads& threads, uint64_t seed)
    : learner_(make_learner(contestant, threads, seed)),
      maker_(*learner_->model, *learner_->forward, *learner_->backward, learner_->parameters),
      task_(task),
      longest_noise_(longest_noise),
      tokens_per_step_(tokens_per_step),
      random_(seed) {}

RecallTask::Question RecallPupil::question(Random& random) const {
  return task_.question(random, RecallTask::noise_up_to(longest_noise_, random));
}

Pupil::Batch RecallPupil::add_gradients() {
  std::vector<RecallTask::Question> questions;
  int64_t rows = 0;
  while (rows < tokens_per_step_) {
    questions.push_back(question(random_));
    rows += static_cast<int64_t>(questions.back().weights.size());
  }
  std::vector<Sample> samples;
  for (const RecallTask::Question& question : questions) samples.push_back(question.sample());
  return {maker_.add_gradients(samples, total_weight(samples)), rows};
}

double RecallPupil::right(std::span<const RecallTask::Question> questions) {
  std::vector<Row> rows;
  for (const RecallTask::Question& question : questions) {
    const int n = static_cast<int>(question.weights.size());
    for (int i = 0; i < n; ++i) {
      rows.push_back({.token = question.tokens[static_cast<size_t>(i)], .position = i, .wants_logits = i + 1 == n});
    }
  }
  Arena arena;
  const Tensor logits = learner_->model->forward(rows, *learner_->forward, arena);  // [questions, vocab]
  int right = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const Tensor row = reshape(slice_rows(logits, static_cast<int64_t>(i), 1), {logits.shape[1]});
    right += learner_->forward->largest(row, 1).front().id == questions[i].tokens.back() ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(questions.size());
}

double RecallPupil::judge() {
  Random random(kJudge);
  std::vector<RecallTask::Question> questions;
  for (int i = 0; i < 64; ++i) questions.push_back(question(random));
  return right(questions);
}

double RecallPupil::accuracy(int noise, int questions) {
  constexpr int kRowsOfCall = 4096;
  Random random(kJudge + 1);
  const int at_a_time = std::max(1, kRowsOfCall / task_.rows(noise));
  double sum = 0;
  for (int done = 0; done < questions; done += at_a_time) {
    std::vector<RecallTask::Question> some;
    for (int i = done; i < std::min(done + at_a_time, questions); ++i) some.push_back(task_.question(random, noise));
    sum += right(some) * static_cast<double>(some.size());
  }
  return sum / questions;
}

SequencePupil::SequencePupil(const SequencePlan& plan, const SequenceTask& task, int longest, int pairs_per_step,
                             const Threads& threads, uint64_t seed)
    : learner_(plan, DType::F32, threads, seed),
      task_(task),
      longest_(std::min(longest, task.longest())),
      pairs_per_step_(pairs_per_step),
      random_(seed) {}

Pupil::Batch SequencePupil::add_gradients() {
  const SequenceBatch batch =
      batch_of(task_, random_pairs(task_, pairs_per_step_, task_.shortest(), longest_, random_));
  return {learner_.add_gradients(batch), batch.tokens()};
}

double SequencePupil::judge() {
  Random random(kJudge);
  return learner_.accuracy(task_, random_pairs(task_, 64, task_.shortest(), longest_, random));
}

double SequencePupil::accuracy(int length, int pairs) {
  Random random(kJudge + 1 + static_cast<uint64_t>(length));
  return learner_.accuracy(task_, random_pairs(task_, pairs, length, length, random));
}

}  // namespace orrery
