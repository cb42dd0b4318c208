#include "kernels/reference/recurrent.h"

#include "kernels/reference/recurrent_layer.h"

namespace orrery {

using namespace plain;

namespace {

// Calls body(sequence, row) for every time step of every sequence, in order.
template <class Body>
void for_each_step(const RecurrentInput& in, const Body& body) {
  for (size_t s = 0; s < in.sequences.size(); ++s) {
    const RowRange& sequence = in.sequences[s];
    for (int64_t row = sequence.first; row < sequence.first + sequence.count; ++row) body(s, row);
  }
}

}  // namespace

template <class T>
void ReferenceRecurrent<T>::rnn(const RecurrentInput& in, RnnOutput& y) {
  check_recurrent("rnn", type_of<T>(), in, 1, {&y.hidden});
  const RecurrentLayer<T> layer(in);
  for_each_step(in, [&](size_t s, int64_t n) {
    const T *x = row<T>(in.x, n), *h = layer.before(in, s, n, y.hidden, in.start.hidden);
    for (int64_t j = 0; j < layer.d_hidden; ++j) row<T>(y.hidden, n)[j] = std::tanh(layer.sum(0, j, x, h));
  });
}

template <class T>
void ReferenceRecurrent<T>::lstm(const RecurrentInput& in, LstmOutput& y) {
  check_recurrent("lstm", type_of<T>(), in, kLstmGates,
                  {&y.input, &y.forget, &y.candidate, &y.output, &y.cell, &y.hidden});
  const RecurrentLayer<T> layer(in);
  for_each_step(in, [&](size_t s, int64_t n) {
    const T *x = row<T>(in.x, n), *h = layer.before(in, s, n, y.hidden, in.start.hidden);
    const T* c = layer.before(in, s, n, y.cell, in.start.cell);
    for (int64_t j = 0; j < layer.d_hidden; ++j) {
      const T input = row<T>(y.input, n)[j] = sigmoid(layer.sum(LstmGate::input, j, x, h));
      const T forget = row<T>(y.forget, n)[j] = sigmoid(layer.sum(LstmGate::forget, j, x, h));
      const T candidate = row<T>(y.candidate, n)[j] = std::tanh(layer.sum(LstmGate::candidate, j, x, h));
      const T output = row<T>(y.output, n)[j] = sigmoid(layer.sum(LstmGate::output, j, x, h));
      const T cell = row<T>(y.cell, n)[j] = forget * c[j] + input * candidate;
      row<T>(y.hidden, n)[j] = output * std::tanh(cell);
    }
  });
}

template <class T>
void ReferenceRecurrent<T>::gru(const RecurrentInput& in, GruReset reset, GruOutput& y) {
  check_recurrent("gru", type_of<T>(), in, kGruGates, {&y.reset, &y.update, &y.recurrent, &y.candidate, &y.hidden});
  const RecurrentLayer<T> layer(in);
  std::vector<T> kept(static_cast<size_t>(layer.d_hidden));  // of the hidden state, by the reset gate
  for_each_step(in, [&](size_t s, int64_t n) {
    const T *x = row<T>(in.x, n), *h = layer.before(in, s, n, y.hidden, in.start.hidden);
    T *r = row<T>(y.reset, n), *z = row<T>(y.update, n);
    for (int64_t j = 0; j < layer.d_hidden; ++j) {
      r[j] = sigmoid(layer.sum(GruGate::reset, j, x, h));
      z[j] = sigmoid(layer.sum(GruGate::update, j, x, h));
      kept[static_cast<size_t>(j)] = r[j] * h[j];
    }
    for (int64_t j = 0; j < layer.d_hidden; ++j) {
      const bool is_before = reset == GruReset::before_product;
      const T u = row<T>(y.recurrent, n)[j] = layer.from_hidden(GruGate::candidate, j, is_before ? kept.data() : h);
      const T sum = layer.from_input(GruGate::candidate, j, x) + (is_before ? u : r[j] * u);
      const T candidate = row<T>(y.candidate, n)[j] = std::tanh(sum);
      row<T>(y.hidden, n)[j] = (1 - z[j]) * candidate + z[j] * h[j];
    }
  });
}

template class ReferenceRecurrent<float>;
template class ReferenceRecurrent<double>;

}  // namespace orrery
