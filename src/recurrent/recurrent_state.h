// What a recurrent model remembers of a sequence: the same few numbers, however long it is.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "config/model_config.h"
#include "model/language_model.h"

namespace orrery {

class RecurrentState : public SequenceState {
 public:
  // Zeros, of type F32 or F64; cells for the LSTM only.
  RecurrentState(const ModelConfig& config, DType dtype);

  int length() const override { return length_; }
  // To 0, or to the length there is. What lies between is not in the state any more: throws Error. Who wants to come
  // back to a place forks the state there.
  void truncate(int length) override;
  size_t bytes() const override { return numbers_.size(); }
  std::unique_ptr<SequenceState> fork() const override { return std::make_unique<RecurrentState>(*this); }

  Tensor hidden(int layer) const { return part(layer); }            // [1, d_hidden]
  Tensor cell(int layer) const { return part(n_layers_ + layer); }  // [1, d_hidden]
  void advance(int length) { length_ = length; }                    // after the numbers were written

 private:
  Tensor part(int index) const;

  int n_layers_, d_hidden_;
  DType dtype_;
  int length_ = 0;
  std::vector<std::byte> numbers_;  // hidden states of all layers, then cells
};

}  // namespace orrery
