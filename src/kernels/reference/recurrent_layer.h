// What the plain recurrent layers share: the weights as numbers of one type, and the states of the time step before.
#pragma once

#include <vector>

#include "kernels/recurrent_checks.h"
#include "kernels/reference/plain.h"

namespace orrery::plain {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
struct RecurrentLayer {
  int64_t d_in, d_hidden;
  std::vector<T> input, hidden;  // a row for each unit of each gate
  std::vector<T> input_bias, hidden_bias;
  std::vector<T> zeros;

  explicit RecurrentLayer(const RecurrentInput& in)
      : d_in(in.x.shape[1]),
        d_hidden(d_hidden_of(in)),
        input(matrix(in.weights.input)),
        hidden(matrix(in.weights.hidden)),
        input_bias(vector_of<T>(in.weights.input_bias)),
        hidden_bias(vector_of<T>(in.weights.hidden_bias)),
        zeros(static_cast<size_t>(d_hidden)) {}

  // Row `unit` of a gate in the matrices.
  template <class Gate>
  size_t row_of(Gate gate, int64_t unit) const {
    return static_cast<size_t>(static_cast<int64_t>(gate) * d_hidden + unit);
  }
  template <class Gate>
  T from_input(Gate gate, int64_t unit, const T* x) const {
    const size_t i = row_of(gate, unit);
    return dot(&input[i * static_cast<size_t>(d_in)], x, d_in) + input_bias[i];
  }
  template <class Gate>
  T from_hidden(Gate gate, int64_t unit, const T* h) const {
    const size_t i = row_of(gate, unit);
    return dot(&hidden[i * static_cast<size_t>(d_hidden)], h, d_hidden) + hidden_bias[i];
  }
  template <class Gate>
  T sum(Gate gate, int64_t unit, const T* x, const T* h) const {
    return from_input(gate, unit, x) + from_hidden(gate, unit, h);
  }

  // The state that row `row` of sequence `s` finds: that of the row before, or what the sequence brought along.
  const T* before(const RecurrentInput& in, size_t s, int64_t row, const Tensor& states, const Tensor& start) const {
    if (row > in.sequences[s].first) return plain::row<T>(states, row - 1);
    return start.data == nullptr ? zeros.data() : plain::row<T>(start, static_cast<int64_t>(s));
  }

 private:
  static std::vector<T> matrix(const Tensor& tensor) {
    std::vector<T> all, line(static_cast<size_t>(tensor.shape[1]));
    for (int64_t i = 0; i < tensor.shape[0]; ++i) {
      read_row(tensor, i, line);
      all.insert(all.end(), line.begin(), line.end());
    }
    return all;
  }
};

}  // namespace orrery::plain
