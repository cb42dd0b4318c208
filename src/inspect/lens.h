// The logit lens (nostalgebraist, 2020): what the model would say if it ended after each layer. The residual stream is
// read there by the model's own last norm and head, which were trained to read it after the last layer only.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "model/transformer.h"

namespace orrery {

struct Guess {
  TokenId token = kNoToken;
  double probability = 0;  // among the whole vocabulary
};

// Watches passes over one sequence. Its readings cost a norm and a head for each layer and row.
class Lens : public Observer {
 public:
  using Choice = std::function<bool(int position)>;
  // Keeps the `top` likeliest tokens at the positions chosen (all where there is no choice). The model and the kernels
  // must outlive it; the kernels are used in the middle of the pass that is watched.
  Lens(const Transformer& model, Kernels& kernels, int top, Choice choice = {});

  bool wants(const Probe& probe) const override;
  void on_tensor(const Probe& probe, Tensor& tensor) override;

  // Places of the residual stream where it is read: 0 is the embedding, 1 + L after layer L.
  int n_depths() const { return static_cast<int>(guesses_.size()); }
  std::vector<int> positions() const;  // that were seen, ascending
  // Likeliest first. Throws Error for a depth or a position that was not seen.
  std::span<const Guess> at(int depth, int position) const;

 private:
  void read(std::map<int, std::vector<Guess>>& guesses, std::span<const Row> rows, const Tensor& resid);

  const Transformer& model_;
  Kernels& kernels_;
  int top_;
  Choice choice_;
  Arena arena_;
  std::vector<std::map<int, std::vector<Guess>>> guesses_;  // by depth, then by position
};

}  // namespace orrery
