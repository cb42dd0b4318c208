// The inner loops of recurrent layers, there and back, beside those of loops.h and under the same rule: no header with
// inline code. One call is one time step of one sequence, for `n` neighbouring units. A gate's tensor holds the product
// with x when it comes in, and the gate when it goes out; `products` are those with the hidden state, the gates
// `products_stride` apart; biases are apart by `bias_stride`.
#pragma once

#include <cstdint>

namespace orrery {

constexpr int kPanelColumns = 16;

struct RecurrentLoops {
  // c[n_rows, 16] = a[n_rows, depth] * packed[depth, 16]
  struct PanelProduct {
    const float* a;
    int64_t a_stride;
    int64_t n_rows;
    int64_t depth;
    const float* packed;
    float* c;
    int64_t c_stride;
  };
  void (*multiply_panel)(const PanelProduct& product);

  struct RnnStep {
    int64_t n;
    const float *products, *bias;
    float* hidden;  // comes in as the product with x
  };
  void (*rnn)(const RnnStep& step);

  struct LstmStep {
    int64_t n;
    float* gates[4];  // input, forget, candidate, output
    const float* products;
    int64_t products_stride;
    const float* bias;
    int64_t bias_stride;
    const float* cell_before;
    float *cell, *hidden;
  };
  void (*lstm)(const LstmStep& step);

  struct GruStep {
    int64_t n;
    float *reset, *update, *candidate;
    float* recurrent;
    const float* products;
    int64_t products_stride;
    const float* bias;  // of the reset and the update gate the sum of both, of the candidate that of x
    int64_t bias_stride;
    const float* recurrent_bias;
    const float* before;  // the hidden state
    float* kept;          // reset * before
    float* hidden;
  };
  void (*gru)(const GruStep& step);            // reset after the product, all of it
  void (*gru_gates)(const GruStep& step);      // reset before the product: both gates and `kept`,
  void (*gru_candidate)(const GruStep& step);  // then, with the product of `kept`, the rest

  // The way back. `carried` is what comes from the time step after, through the matrix; `direct` what comes past it,
  // and goes out for the time step before. `slopes` are of the sums of the gates, `slopes_stride` apart.
  struct RnnBack {
    int64_t n;
    const float *hidden, *dhidden, *carried;
    float* slopes;
  };
  void (*rnn_back)(const RnnBack& step);

  struct LstmBack {
    int64_t n;
    const float* gates[4];
    const float *cell, *cell_before;
    const float *dcell, *dhidden, *carried;  // dcell: nullptr for zeros
    float* carried_cell;                     // in from the step after, out for the step before
    float* slopes;
    int64_t slopes_stride;
  };
  void (*lstm_back)(const LstmBack& step);

  struct GruBack {
    int64_t n;
    const float *reset, *update, *recurrent, *candidate, *before;
    const float *dhidden, *carried;
    float* direct;
    float *reset_slopes, *update_slopes, *recurrent_slopes, *candidate_slopes;
    const float* dkept;
    float* kept;  // reset * before, once more
  };
  void (*gru_back)(const GruBack& step);            // reset after the product, all of it
  void (*gru_candidate_back)(const GruBack& step);  // reset before the product: update and candidate,
  void (*gru_reset_back)(const GruBack& step);      // then, with the gradient of `kept`, the reset gate
};

// Defined in recurrent_table.cpp, once per instruction set.
namespace baseline {
extern const RecurrentLoops recurrent_loops;
}
namespace x86_64_v3 {
extern const RecurrentLoops recurrent_loops;
}

}  // namespace orrery
