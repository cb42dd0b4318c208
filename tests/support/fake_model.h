// A language model whose probabilities a test chooses.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "model/language_model.h"

namespace orrery::test {

// Logits [vocab] of the token that follows these.
using Guess = std::function<std::vector<double>(std::span<const TokenId> before)>;

class FakeModel : public LanguageModel {
 public:
  FakeModel(int vocab_size, int context_length, Guess guess) : guess_(std::move(guess)) {
    config_.vocab_size = vocab_size;
    config_.context_length = context_length;
  }

  const ModelConfig& config() const override { return config_; }
  int context_length() const override { return config_.context_length; }
  std::unique_ptr<SequenceState> new_sequence() override { return std::make_unique<State>(); }

  Tensor forward(std::span<const Row> rows, Kernels& kernels, Arena& arena, std::span<Observer* const> = {}) override {
    calls.push_back(static_cast<int>(rows.size()));
    std::vector<std::vector<double>> all;
    std::vector<TokenId> loose;  // the sequence without a state
    for (const Row& row : rows) {
      auto* state = static_cast<State*>(row.state);
      std::vector<TokenId>& tokens = state != nullptr ? state->tokens : loose;
      if (state == nullptr && row.position == 0) loose.clear();
      if (row.position != static_cast<int>(tokens.size())) throw std::logic_error("positions out of order");
      if (row.position >= context_length()) throw std::logic_error("past the context");
      tokens.push_back(row.token);
      if (row.wants_logits) all.push_back(guess_(tokens));
    }
    Tensor logits =
        arena.make("logits", kernels.activation_type(), {static_cast<int64_t>(all.size()), config_.vocab_size});
    for (size_t r = 0; r < all.size(); ++r) {
      for (size_t i = 0; i < all[r].size(); ++i) {
        set_element(logits, static_cast<int64_t>(r) * config_.vocab_size + static_cast<int64_t>(i), all[r][i]);
      }
    }
    return logits;
  }

  std::vector<int> calls;  // rows of each

 private:
  struct State : SequenceState {
    std::vector<TokenId> tokens;
    int length() const override { return static_cast<int>(tokens.size()); }
    void truncate(int length) override { tokens.resize(static_cast<size_t>(length)); }
    size_t bytes() const override { return 0; }
    std::unique_ptr<SequenceState> fork() const override { return std::make_unique<State>(*this); }
  };

  ModelConfig config_;
  Guess guess_;
};

// Recites texts (tokens without the beginning one): what comes next in those that went so far alike is far likelier
// than all else, by their number.
inline Guess recite(int vocab_size, const std::vector<std::vector<TokenId>>& texts) {
  return [=](std::span<const TokenId> before) {
    std::vector<double> counts(static_cast<size_t>(vocab_size));
    const auto said = before.subspan(1);
    for (const auto& text : texts) {
      if (text.size() > said.size() && std::equal(said.begin(), said.end(), text.begin()))
        ++counts[static_cast<size_t>(text[said.size()])];
    }
    for (double& count : counts) count = count == 0 ? -60 : std::log(count);
    return counts;
  };
}

}  // namespace orrery::test
