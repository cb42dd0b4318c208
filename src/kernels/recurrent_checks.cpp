#include "kernels/recurrent_checks.h"

#include <string>

#include "base/error.h"
#include "kernels/backward_checks.h"

namespace orrery {
namespace {

[[noreturn]] void fail(const char* operation, const std::string& expected, const Tensor& tensor) {
  throw Error({.what = "the tensors do not fit each other",
               .where = operation,
               .expected = expected,
               .found = std::string(tensor.name) + " " + shape_text(tensor) + " " + info(tensor.dtype).name});
}

void require_matrix(const char* operation, const Tensor& tensor, int64_t rows, int64_t columns) {
  const int block = info(tensor.dtype).block_elements;
  const bool has_rows = tensor.n_dims == 2 && tensor.shape[0] == rows && tensor.shape[1] == columns &&
                        (tensor.stride[1] == 1 || columns <= 1) && tensor.stride[0] >= columns &&
                        columns % block == 0 && tensor.stride[0] % block == 0;
  if (has_rows && (tensor.data != nullptr || rows * columns == 0)) return;
  fail(operation, "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]", tensor);
}

void require_type(const char* operation, DType type, const Tensor& tensor) {
  if (tensor.dtype != type) fail(operation, info(type).name, tensor);
}

void require_sequences(const char* operation, const RecurrentInput& in) {
  int64_t next = 0;
  bool fits = true;
  for (const RowRange& sequence : in.sequences) {
    fits = fits && sequence.first == next && sequence.count >= 1 && sequence.count <= in.x.shape[0] - next;
    next += fits ? sequence.count : 0;
  }
  if (fits && next == in.x.shape[0] && in.x.n_dims == 2) return;
  throw Error({.what = "the sequences do not cover the rows one after the other",
               .where = operation,
               .expected = std::to_string(in.x.shape[0]) + " rows",
               .found = std::to_string(next)});
}

}  // namespace

void check_recurrent(const char* operation, DType activations, const RecurrentInput& in, int n_gates,
                     std::initializer_list<const Tensor*> outputs, bool trains) {
  require_sequences(operation, in);
  const int64_t n = in.x.shape[0], d_hidden = d_hidden_of(in), n_units = n_gates * d_hidden;
  require_matrix(operation, in.x, n, in.x.shape[1]);
  require_type(operation, activations, in.x);
  require_matrix(operation, in.weights.input, n_units, in.x.shape[1]);
  require_matrix(operation, in.weights.hidden, n_units, d_hidden);
  for (const Tensor* bias : {&in.weights.input_bias, &in.weights.hidden_bias}) {
    const bool fits = bias->n_dims == 1 && bias->shape[0] == n_units && bias->dtype != DType::Q8_0;
    if (!fits || bias->data == nullptr) fail(operation, "[" + std::to_string(n_units) + "]", *bias);
    if (trains) require_type(operation, activations, *bias);
  }
  if (trains) require_type(operation, activations, in.weights.input);
  if (trains) require_type(operation, activations, in.weights.hidden);
  for (const Tensor* start : {&in.start.hidden, &in.start.cell}) {
    if (start->data == nullptr) continue;
    require_matrix(operation, *start, static_cast<int64_t>(in.sequences.size()), d_hidden);
    require_type(operation, activations, *start);
  }
  for (const Tensor* output : outputs) {
    require_matrix(operation, *output, n, d_hidden);
    require_type(operation, activations, *output);
  }
}

void check_recurrent_gradients(const char* operation, DType activations, const RecurrentInput& in,
                               const RecurrentGradients& d) {
  check_gradient(operation, activations, in.x, d.x);
  check_gradient(operation, activations, in.weights.input, d.weights.input);
  check_gradient(operation, activations, in.weights.hidden, d.weights.hidden);
  check_gradient(operation, activations, in.weights.input_bias, d.weights.input_bias);
  check_gradient(operation, activations, in.weights.hidden_bias, d.weights.hidden_bias);
  if (in.start.hidden.data != nullptr) check_gradient(operation, activations, in.start.hidden, d.start.hidden);
  if (in.start.cell.data != nullptr) check_gradient(operation, activations, in.start.cell, d.start.cell);
}

}  // namespace orrery
