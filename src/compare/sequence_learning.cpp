#include "compare/sequence_learning.h"

#include <algorithm>
#include <cmath>

#include "compare/closest_shape.h"
#include "compare/sequence_decoding.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/backward.h"
#include "kernels/reference/reference_kernels.h"

namespace orrery {
namespace {

// `d_ff`: of a transformer.
SequencePlan plan_of_width(SequenceKind kind, const SequenceTask& task, int width, int d_ff) {
  SequencePlan plan{.kind = kind};
  const int vocab_size = task.alphabet().vocab_size();
  if (kind == SequenceKind::transformer) {
    constexpr int kHeads = 4;
    plan.transformer = {.n_layers = 2,
                        .d_model = width,
                        .n_heads = kHeads,
                        .d_ff = d_ff,
                        .vocab_size = vocab_size,
                        .context_length = std::max(task.longest_source(), task.longest_target()) + 2};
  } else {
    const Alignment alignment = kind == SequenceKind::gru            ? Alignment::none
                                : kind == SequenceKind::gru_additive ? Alignment::additive
                                                                     : Alignment::dot;
    plan.recurrent = {
        .alignment = alignment, .d_embedding = std::min(width, 32), .d_hidden = width, .vocab_size = vocab_size};
  }
  return plan;
}

std::unique_ptr<SequenceModel> make_sequence_model(const SequencePlan& plan, const Parameters& parameters) {
  if (plan.kind == SequenceKind::transformer) {
    return std::make_unique<SequenceTransformer>(plan.transformer, parameters);
  }
  return std::make_unique<RecurrentSequenceModel>(plan.recurrent, parameters);
}

// PyTorch's: uniform within 1 / sqrt(width) in the recurrent layers, within 1 / sqrt(in) in matrices; embeddings
// normal.
void initialize_gru(Parameters& parameters, int d_hidden, uint64_t seed) {
  Random random(seed);
  for (const Parameter& parameter : parameters.all()) {
    const Tensor& weight = parameter.weight;
    const std::string name = weight.name;
    const double bound = 1 / std::sqrt(d_hidden);
    for (int64_t i = 0; i < n_elements(weight); ++i) {
      set_element(weight, i, name == "token_embd.weight" ? random.normal() : bound * (2 * random.uniform() - 1));
    }
  }
}

}  // namespace

const char* name_of(SequenceKind kind) {
  switch (kind) {
    case SequenceKind::gru: return name_of(Alignment::none);
    case SequenceKind::gru_additive: return name_of(Alignment::additive);
    case SequenceKind::gru_dot: return name_of(Alignment::dot);
    case SequenceKind::transformer: break;
  }
  return "transformer";
}

std::vector<SequenceKind> all_sequence_kinds() {
  return {SequenceKind::gru, SequenceKind::gru_additive, SequenceKind::gru_dot, SequenceKind::transformer};
}

std::vector<NamedShape> SequencePlan::weights() const {
  return kind == SequenceKind::transformer ? sequence_transformer_weights(transformer)
                                           : recurrent_sequence_weights(recurrent);
}

int64_t SequencePlan::parameters() const {
  int64_t total = 0;
  for (const NamedShape& weight : weights()) {
    int64_t count = 1;
    for (const int64_t size : weight.shape) count *= size;
    total += count;
  }
  return total;
}

std::string SequencePlan::description() const {
  if (kind == SequenceKind::transformer) {
    return std::to_string(transformer.n_layers) + " + " + std::to_string(transformer.n_layers) + " blocks, " +
           std::to_string(transformer.n_heads) + " heads, width " + std::to_string(transformer.d_model) +
           ", feed-forward " + std::to_string(transformer.d_ff);
  }
  return "GRU in both directions + GRU, width " + std::to_string(recurrent.d_hidden);
}

SequencePlan plan_of(SequenceKind kind, const SequenceTask& task, int64_t parameters) {
  const bool is_transformer = kind == SequenceKind::transformer;
  constexpr int kWidest = 512;
  const int step = is_transformer ? 8 : 4;  // widths that heads can share
  return closest_shape(parameters, step, kWidest, [&](int width) {
    std::vector<SequencePlan> all;
    for (int d_ff = 2 * width; d_ff <= (is_transformer ? 4 : 2) * width; d_ff += 8) {
      all.push_back(plan_of_width(kind, task, width, d_ff));
    }
    return all;
  });
}

int64_t SequenceBatch::tokens() const {
  int64_t total = 0;
  for (const std::vector<TokenId>& target : targets) total += static_cast<int64_t>(target.size()) - 1;
  return total;
}

SequenceBatch batch_of(const SequenceTask& task, std::span<const SequencePair> pairs) {
  SequenceBatch batch;
  for (const SequencePair& pair : pairs) {
    batch.sources.push_back(task.alphabet().encode(pair.source));
    batch.sources.back().push_back(Alphabet::kEnd);
    batch.targets.push_back({Alphabet::kBegin});
    for (const TokenId id : task.alphabet().encode(pair.target)) batch.targets.back().push_back(id);
    batch.targets.back().push_back(Alphabet::kEnd);
  }
  return batch;
}

std::vector<SequencePair> random_pairs(const SequenceTask& task, int count, int shortest, int longest, Random& random) {
  std::vector<SequencePair> pairs;
  for (int i = 0; i < count; ++i) {
    const auto more = static_cast<int>(random.below(static_cast<uint64_t>(longest - shortest + 1)));
    pairs.push_back(task.pair(random, shortest + more));
  }
  return pairs;
}

SequenceLearner::SequenceLearner(const SequencePlan& plan, DType dtype, const Threads& threads, uint64_t seed)
    : parameters_(plan.weights(), dtype),
      forward_(dtype == DType::F64 ? std::unique_ptr<Kernels>(std::make_unique<ReferenceKernels<double>>(threads))
                                   : std::make_unique<FastKernels>(threads)),
      backward_(dtype == DType::F64
                    ? std::unique_ptr<BackwardKernels>(std::make_unique<ReferenceBackward<double>>(threads))
                    : std::make_unique<FastBackward>(threads)),
      model_(make_sequence_model(plan, parameters_)),
      tape_(*forward_, *backward_, parameters_),
      arena_(true) {
  if (plan.kind == SequenceKind::transformer) {
    initialize(parameters_, stack_config(plan.transformer), seed);
  } else {
    initialize_gru(parameters_, plan.recurrent.d_hidden, seed);
  }
}

double SequenceLearner::forward(const SequenceBatch& batch, Kernels& kernels) {
  arena_.reset();
  const Encoded encoded = model_->encode(batch.sources, kernels, arena_);
  std::vector<Row> rows;
  std::vector<TokenId> guesses;
  std::vector<int> source_of;
  for (const std::vector<TokenId>& target : batch.targets) {
    source_of.push_back(static_cast<int>(source_of.size()));
    for (size_t i = 0; i + 1 < target.size(); ++i) {
      rows.push_back({.token = target[i], .position = static_cast<int>(i)});
      guesses.push_back(target[i + 1]);
    }
  }
  const Tensor logits = model_->decode(encoded, rows, source_of, kernels, arena_);  // [n, vocab]
  std::vector<double> losses(rows.size());
  kernels.cross_entropy(logits, guesses, losses);
  dlosses_.assign(rows.size(), 1 / static_cast<double>(rows.size()));
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(rows.size());
}

double SequenceLearner::add_gradients(const SequenceBatch& batch) {
  tape_.clear();
  const double loss = forward(batch, tape_);
  tape_.backward(dlosses_);
  return loss;
}

double SequenceLearner::loss(const SequenceBatch& batch) { return forward(batch, *forward_); }

double SequenceLearner::accuracy(const SequenceTask& task, std::span<const SequencePair> pairs) {
  const SequenceBatch batch = batch_of(task, pairs);
  const std::vector<DecodedTarget> decoded = greedy(*model_, batch.sources, task.longest_target(), *forward_);
  int right = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    right += decoded[i].is_finished && task.alphabet().decode(decoded[i].ids) == pairs[i].target ? 1 : 0;
  }
  return pairs.empty() ? 0 : static_cast<double>(right) / static_cast<double>(pairs.size());
}

}  // namespace orrery
