// A small model and a text of lines of all lengths, ready to be trained.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "learn/learning.h"
#include "learn/trainer.h"
#include "learn/vocabularies.h"

namespace orrery::test {

struct SmallTraining {
  explicit SmallTraining(const TrainingSettings& settings, DType dtype = DType::F32, int threads = 1) {
    Random random(5);
    for (int i = 0; i < 40; ++i) {
      std::string line;
      for (uint64_t n = 1 + random.below(30); n > 0; --n) line += static_cast<char>('a' + random.below(8));
      lines.push_back(line);
    }
    views.assign(lines.begin(), lines.end());
    const Vocabulary vocabulary = character_vocabulary(views);
    data = std::make_unique<TokenData>(views, *make_tokenizer(vocabulary, "test"));
    ModelConfig config = small_config(0);
    config.vocab_size = static_cast<int>(vocabulary.pieces.size());
    learning = std::make_unique<Learning>(*random_model(config, DType::F32), dtype, threads, settings.activations);
    checkpoint = learning->parameters.checkpoint(config);
    checkpoint.vocabulary = vocabulary;
    trainer = std::make_unique<Trainer>(*learning->model, *learning->forward, *learning->backward, learning->parameters,
                                        *data, settings);
  }
  std::vector<std::vector<double>> weights() const {
    std::vector<std::vector<double>> all;
    for (const Parameter& parameter : learning->parameters.all()) all.push_back(numbers(parameter.weight));
    return all;
  }
  Tensor weight(const std::string& name) const { return learning->parameters.named(name).weight; }

  std::vector<std::string> lines;
  std::vector<std::string_view> views;
  std::unique_ptr<TokenData> data;
  std::unique_ptr<Learning> learning;
  Checkpoint checkpoint;
  std::unique_ptr<Trainer> trainer;
};

inline TrainingSettings small_settings() {
  return {.steps = 20, .context = 12, .tokens_per_step = 100, .tokens_per_call = 100, .warmup_steps = 3, .seed = 9};
}

}  // namespace orrery::test
