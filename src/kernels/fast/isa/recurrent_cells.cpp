// One time step of each cell, there and back. What is said of the formulas in kernels/recurrent.h is not said again.
#include "kernels/fast/isa/exponential_of.h"
#include "kernels/fast/isa/recurrent_functions.h"

namespace orrery::ORRERY_ISA {
namespace {

inline float sigmoid(float x) { return 1 / (1 + exponential(-x)); }

// 1 - 2 / (1 + exp(2x)), within 2e-7.
inline float tanh_of(float x) { return 1 - 2 / (1 + exponential(2 * x)); }

}  // namespace

void rnn_step(const RecurrentLoops::RnnStep& step) {
  const float *products = step.products, *bias = step.bias;
  float* hidden = step.hidden;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) hidden[j] = tanh_of(hidden[j] + products[j] + bias[j]);
}

void lstm_step(const RecurrentLoops::LstmStep& step) {
  float *input = step.gates[0], *forget = step.gates[1], *candidate = step.gates[2], *output = step.gates[3];
  const float *p0 = step.products, *p1 = p0 + step.products_stride, *p2 = p1 + step.products_stride,
              *p3 = p2 + step.products_stride;
  const float *b0 = step.bias, *b1 = b0 + step.bias_stride, *b2 = b1 + step.bias_stride, *b3 = b2 + step.bias_stride;
  const float* cell_before = step.cell_before;
  float *cell = step.cell, *hidden = step.hidden;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float i = sigmoid(input[j] + p0[j] + b0[j]);
    const float f = sigmoid(forget[j] + p1[j] + b1[j]);
    const float g = tanh_of(candidate[j] + p2[j] + b2[j]);
    const float o = sigmoid(output[j] + p3[j] + b3[j]);
    const float c = f * cell_before[j] + i * g;
    input[j] = i;
    forget[j] = f;
    candidate[j] = g;
    output[j] = o;
    cell[j] = c;
    hidden[j] = o * tanh_of(c);
  }
}

void gru_step(const RecurrentLoops::GruStep& step) {
  float *reset = step.reset, *update = step.update, *candidate = step.candidate, *recurrent = step.recurrent;
  const float *p0 = step.products, *p1 = p0 + step.products_stride, *p2 = p1 + step.products_stride;
  const float *b0 = step.bias, *b1 = b0 + step.bias_stride, *b2 = b1 + step.bias_stride;
  const float *recurrent_bias = step.recurrent_bias, *before = step.before;
  float* hidden = step.hidden;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float r = sigmoid(reset[j] + p0[j] + b0[j]);
    const float z = sigmoid(update[j] + p1[j] + b1[j]);
    const float u = p2[j] + recurrent_bias[j];
    const float n = tanh_of(candidate[j] + b2[j] + r * u);
    reset[j] = r;
    update[j] = z;
    recurrent[j] = u;
    candidate[j] = n;
    hidden[j] = (1 - z) * n + z * before[j];
  }
}

void gru_gates(const RecurrentLoops::GruStep& step) {
  float *reset = step.reset, *update = step.update, *kept = step.kept;
  const float *p0 = step.products, *p1 = p0 + step.products_stride;
  const float *b0 = step.bias, *b1 = b0 + step.bias_stride, *before = step.before;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float r = sigmoid(reset[j] + p0[j] + b0[j]);
    reset[j] = r;
    update[j] = sigmoid(update[j] + p1[j] + b1[j]);
    kept[j] = r * before[j];
  }
}

void gru_candidate(const RecurrentLoops::GruStep& step) {
  float *candidate = step.candidate, *recurrent = step.recurrent, *hidden = step.hidden;
  const float *update = step.update, *products = step.products, *bias = step.bias;
  const float *recurrent_bias = step.recurrent_bias, *before = step.before;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float u = products[j] + recurrent_bias[j];
    const float n = tanh_of(candidate[j] + bias[j] + u);
    recurrent[j] = u;
    candidate[j] = n;
    hidden[j] = (1 - update[j]) * n + update[j] * before[j];
  }
}

void rnn_back(const RecurrentLoops::RnnBack& step) {
  const float *hidden = step.hidden, *dhidden = step.dhidden, *carried = step.carried;
  float* slopes = step.slopes;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) slopes[j] = (dhidden[j] + carried[j]) * (1 - hidden[j] * hidden[j]);
}

void lstm_back(const RecurrentLoops::LstmBack& step) {
  const float *input = step.gates[0], *forget = step.gates[1], *candidate = step.gates[2], *output = step.gates[3];
  const float *cell = step.cell, *cell_before = step.cell_before;
  const float *dhidden = step.dhidden, *carried = step.carried;
  float* carried_cell = step.carried_cell;
  float *s0 = step.slopes, *s1 = s0 + step.slopes_stride, *s2 = s1 + step.slopes_stride, *s3 = s2 + step.slopes_stride;
  if (step.dcell != nullptr) {
    const float* dcell = step.dcell;
#pragma omp simd
    for (int64_t j = 0; j < step.n; ++j) carried_cell[j] += dcell[j];
  }
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float i = input[j], f = forget[j], g = candidate[j], o = output[j];
    const float squashed = tanh_of(cell[j]);
    const float dh = dhidden[j] + carried[j];
    const float dc = carried_cell[j] + dh * o * (1 - squashed * squashed);
    s0[j] = dc * g * i * (1 - i);
    s1[j] = dc * cell_before[j] * f * (1 - f);
    s2[j] = dc * i * (1 - g * g);
    s3[j] = dh * squashed * o * (1 - o);
    carried_cell[j] = dc * f;
  }
}

void gru_back(const RecurrentLoops::GruBack& step) {
  const float *reset = step.reset, *update = step.update, *recurrent = step.recurrent, *candidate = step.candidate;
  const float *before = step.before, *dhidden = step.dhidden, *carried = step.carried;
  float *reset_slopes = step.reset_slopes, *update_slopes = step.update_slopes;
  float *recurrent_slopes = step.recurrent_slopes, *candidate_slopes = step.candidate_slopes, *direct = step.direct;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float r = reset[j], z = update[j], n = candidate[j];
    const float dh = dhidden[j] + carried[j] + direct[j];
    const float slope = dh * (1 - z) * (1 - n * n);
    candidate_slopes[j] = slope;
    recurrent_slopes[j] = slope * r;
    reset_slopes[j] = slope * recurrent[j] * r * (1 - r);
    update_slopes[j] = dh * (before[j] - n) * z * (1 - z);
    direct[j] = dh * z;
  }
}

void gru_candidate_back(const RecurrentLoops::GruBack& step) {
  const float *update = step.update, *candidate = step.candidate;
  const float *before = step.before, *dhidden = step.dhidden, *carried = step.carried;
  float *update_slopes = step.update_slopes, *candidate_slopes = step.candidate_slopes, *direct = step.direct;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float z = update[j], n = candidate[j];
    const float dh = dhidden[j] + carried[j] + direct[j];
    candidate_slopes[j] = dh * (1 - z) * (1 - n * n);
    update_slopes[j] = dh * (before[j] - n) * z * (1 - z);
    direct[j] = dh * z;
  }
}

void gru_reset_back(const RecurrentLoops::GruBack& step) {
  const float *reset = step.reset, *before = step.before, *dkept = step.dkept;
  float *reset_slopes = step.reset_slopes, *direct = step.direct, *kept = step.kept;
#pragma omp simd
  for (int64_t j = 0; j < step.n; ++j) {
    const float r = reset[j];
    kept[j] = r * before[j];
    reset_slopes[j] = dkept[j] * before[j] * r * (1 - r);
    direct[j] += dkept[j] * r;
  }
}

}  // namespace orrery::ORRERY_ISA
