// Layers of recurrent networks, one function each: the plain cell of Elman (1990), the LSTM of Hochreiter and
// Schmidhuber (1997) with the forget gate of Gers et al. (2000), the GRU of Cho et al. (2014) in both its forms. One
// call goes through all time steps of all its sequences: a step must wait for the one before it, sequences need not
// wait for each other.
//
// The rows of a sequence stand together in x and in all outputs, one for each time step. Weights are PyTorch's: the
// gates of a matrix stand one below the other, in the order of the enums here, and there are two biases.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace orrery {

enum class LstmGate { input, forget, candidate, output };
enum class GruGate { reset, update, candidate };
constexpr int kLstmGates = 4, kGruGates = 3;

// Where a GRU's reset gate works: on the product with the hidden state (PyTorch, cuDNN), or on the hidden state itself,
// before the product (Cho et al., 2014, equation 8).
enum class GruReset { after_product, before_product };

struct RowRange {  // neighbouring rows: a sequence
  int64_t first = 0;
  int64_t count = 0;
};

struct RecurrentWeights {
  Tensor input;        // [gates * d_hidden, d_in]
  Tensor hidden;       // [gates * d_hidden, d_hidden]
  Tensor input_bias;   // [gates * d_hidden]
  Tensor hidden_bias;  // [gates * d_hidden]
};

// What the sequences bring along, a line for each in the order of the call. Without data: zeros.
struct RecurrentStart {
  Tensor hidden;  // [sequences, d_hidden]
  Tensor cell;    // [sequences, d_hidden], LSTM only
};

struct RecurrentInput {
  std::span<const RowRange> sequences;  // each of one row at least; together all rows of x, in order
  Tensor x;                             // [n, d_in]
  RecurrentWeights weights;
  RecurrentStart start = {};
};

// What a layer makes, made by the caller, all [n, d_hidden]. The way back reads all of it.
struct RnnOutput {
  Tensor hidden;
};
struct LstmOutput {
  Tensor input, forget, candidate, output;  // gates
  Tensor cell, hidden;
};
struct GruOutput {
  Tensor reset, update;
  Tensor recurrent;  // the candidate's product with the hidden state, with its bias
  Tensor candidate;
  Tensor hidden;
};

// In what follows h' and c' are those of the time step before, s(x) = 1 / (1 + exp(-x)), * between vectors is element
// by element, and a gate's sum is a_g = Wi_g x + bi_g + Wh_g h' + bh_g.
class RecurrentKernels {
 public:
  virtual ~RecurrentKernels() = default;

  // h = tanh(a)
  virtual void rnn(const RecurrentInput& in, RnnOutput& y) = 0;
  // i, f, o = s(a_i), s(a_f), s(a_o); g = tanh(a_g); c = f * c' + i * g; h = o * tanh(c)
  virtual void lstm(const RecurrentInput& in, LstmOutput& y) = 0;
  // r, z = s(a_r), s(a_z); h = (1 - z) * n + z * h'; the candidate n is
  // after_product: tanh(Wi_n x + bi_n + r * u) with u = Wh_n h' + bh_n
  // before_product: tanh(Wi_n x + bi_n + u) with u = Wh_n (r * h') + bh_n
  virtual void gru(const RecurrentInput& in, GruReset reset, GruOutput& y) = 0;
};

// Where the way back adds what it finds out; all are there, but those of a start that has no data.
struct RecurrentGradients {
  Tensor x;
  RecurrentWeights weights;
  RecurrentStart start = {};
};

// Gradients are added to what is there. Weights are of the type of the activations. A dcell without data is zeros.
class RecurrentBackward {
 public:
  virtual ~RecurrentBackward() = default;

  virtual void rnn(const RecurrentInput& in, const RnnOutput& y, const Tensor& dhidden, RecurrentGradients& d) = 0;
  virtual void lstm(const RecurrentInput& in, const LstmOutput& y, const Tensor& dcell, const Tensor& dhidden,
                    RecurrentGradients& d) = 0;
  virtual void gru(const RecurrentInput& in, GruReset reset, const GruOutput& y, const Tensor& dhidden,
                   RecurrentGradients& d) = 0;
};

}  // namespace orrery
