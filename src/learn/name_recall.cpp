#include "learn/name_recall.h"

#include "learn/gradients.h"
#include "learn/optimizer.h"

namespace orrery {
namespace {

constexpr TokenId kMeet = 0, kWho = 1 + kRecallNames, kFirstBetween = kWho + 1;
constexpr size_t kBatch = 16;

}  // namespace

const std::vector<std::string>& recall_words() {
  static const std::vector<std::string> words = {"meet",   "Tom", "Ann", "Bob",  "Eve", "who", "it",
                                                 "rained", "and", "we",  "sang", "all", "day", "long"};
  return words;
}

std::vector<TokenId> recall_sentence(Random& random, int name, int between) {
  std::vector<TokenId> ids = {kMeet, static_cast<TokenId>(1 + name)};
  const uint64_t n_words = recall_words().size() - kFirstBetween;
  for (int i = 0; i < between; ++i) ids.push_back(static_cast<TokenId>(kFirstBetween + random.below(n_words)));
  ids.push_back(kWho);
  ids.push_back(ids[1]);
  return ids;
}

std::vector<Row> recall_rows(int names, int between, uint64_t seed) {
  std::vector<Row> rows;
  for (int name = 0; name < names; ++name) {
    Random random(seed);
    const std::vector<TokenId> ids = recall_sentence(random, name, between);
    for (size_t i = 0; i + 1 < ids.size(); ++i) rows.push_back({.token = ids[i], .position = static_cast<int>(i)});
  }
  return rows;
}

double learn_recall(Learner& learner, int steps, double rate, uint64_t seed) {
  GradientMaker maker(*learner.model, *learner.forward, *learner.backward, learner.parameters);
  AdamW optimizer(learner.parameters, {.weight_decay = 0});
  Random random(seed);
  double loss = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<TokenId>> texts;
    std::vector<std::vector<float>> weights;
    for (size_t i = 0; i < kBatch; ++i) {
      const int name = static_cast<int>(random.below(kRecallNames));
      const int between = kFewestBetween + static_cast<int>(random.below(kMostBetween - kFewestBetween + 1));
      texts.push_back(recall_sentence(random, name, between));
      weights.emplace_back(texts.back().size() - 1).back() = 1;
    }
    std::vector<Sample> samples;
    for (size_t i = 0; i < kBatch; ++i) samples.push_back({texts[i], weights[i]});
    learner.parameters.clear_gradients(*learner.backward);
    loss = maker.add_gradients(samples, static_cast<double>(kBatch));
    learner.parameters.clip_gradients(*learner.backward, 1);
    optimizer.step(learner.parameters, *learner.backward, rate);
  }
  return loss;
}

}  // namespace orrery
