// One layer of a recurrent network in a forward pass: rows in, hidden states out, every gate a tensor that observers
// see. The names are in src/model/PROBES.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "kernels/kernels.h"
#include "model/language_model.h"
#include "model/observer.h"
#include "tensor/arena.h"

namespace orrery {

struct RecurrentPass {
  std::span<const Row> rows;
  Kernels& kernels;
  Arena& arena;
  std::span<Observer* const> observers;
  std::vector<RowRange> sequences = {};  // of the rows
  std::string prefix = {};               // before all names: "encoder."

  // In the arena; "lstm.1.forget" for layer 1, the name alone for -1.
  Tensor make(std::string_view name, std::initializer_list<int64_t> shape) const;
  void announce(Tensor& tensor, int layer) const { announce(tensor, layer, rows); }
  void announce(Tensor& tensor, int layer, std::span<const Row> tensor_rows) const;
  bool is_wanted(std::string_view name, int layer) const;
};

struct RecurrentLayerOutput {
  Tensor hidden;  // [n, d_hidden], the states
  Tensor cell;    // [n, d_hidden], LSTM only
  Tensor out;     // [n, d_hidden]: what goes on to the next layer; the hidden states, or what an observer made of them
};

// Throws Error for an architecture that has no such layer, and for weights that do not fit.
RecurrentLayerOutput recurrent_layer(const RecurrentPass& pass, Architecture architecture, int layer,
                                     const RecurrentWeights& weights, const RecurrentStart& start, const Tensor& x);

// "lstm": what the tensors of such a layer are called after; both forms of the GRU are "gru".
const char* cell_name(Architecture architecture);

}  // namespace orrery
