// Who looks at whom: the attention weights of one layer, kept for all rows of a text.
#pragma once

#include <optional>
#include <vector>

#include "model/observer.h"

namespace orrery {

class AttentionMap : public Observer {
 public:
  // Of one head, or of all. `length`: tokens of the text, which begins at position 0.
  AttentionMap(int layer, std::optional<int> head, int length);

  bool wants(const Probe& probe) const override;
  void on_tensor(const Probe& probe, Tensor& tensor) override;

  const std::vector<int>& heads() const { return heads_; }  // in the order of weights()
  // [length, length] for each head: what the row's position takes from the column's; 0 for what comes later.
  const std::vector<std::vector<double>>& weights() const { return weights_; }

 private:
  int layer_;
  std::optional<int> head_;
  int length_;
  std::vector<int> heads_;
  std::vector<std::vector<double>> weights_;
};

}  // namespace orrery
