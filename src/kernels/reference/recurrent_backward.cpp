#include "kernels/reference/recurrent.h"
#include "kernels/reference/recurrent_layer.h"

namespace orrery {

using namespace plain;

namespace {

// One layer on its way back, time step after time step from the last: slopes of the sums of the gates come in, the
// gradients of weights and x grow, and slopes of the states of the step before go out.
template <class T>
struct LayerBack {
  const RecurrentInput& in;
  RecurrentGradients& d;
  RecurrentLayer<T> layer;
  std::vector<T> dhidden, dcell;  // of the state that the last step found: it comes on top of the outputs' own

  LayerBack(const RecurrentInput& input, RecurrentGradients& gradients)
      : in(input), d(gradients), layer(input), dhidden(layer.zeros), dcell(layer.zeros) {}

  // Calls step(sequence, row) from the last row to the first of each sequence.
  template <class Step>
  void walk(const Step& step) {
    for (size_t s = 0; s < in.sequences.size(); ++s) {
      const RowRange& sequence = in.sequences[s];
      dhidden = dcell = layer.zeros;
      for (int64_t n = sequence.first + sequence.count; n-- > sequence.first;) step(s, n);
      give_start(dhidden, d.start.hidden, s);
      give_start(dcell, d.start.cell, s);
    }
  }

  // The sum of a gate has this slope; `before` is what its matrix for the hidden state was multiplied by.
  template <class Gate>
  void from_input(Gate gate, int64_t unit, T slope, int64_t n) {
    const auto i = static_cast<int64_t>(layer.row_of(gate, unit));
    const T* x = row<T>(in.x, n);
    for (int64_t k = 0; k < layer.d_in; ++k) {
      row<T>(d.x, n)[k] += slope * layer.input[static_cast<size_t>(i * layer.d_in + k)];
      row<T>(d.weights.input, i)[k] += slope * x[k];
    }
    values<T>(d.weights.input_bias)[i] += slope;
  }
  template <class Gate>
  void from_hidden(Gate gate, int64_t unit, T slope, const T* before, std::vector<T>& dbefore) {
    const auto i = static_cast<int64_t>(layer.row_of(gate, unit));
    for (int64_t k = 0; k < layer.d_hidden; ++k) {
      dbefore[static_cast<size_t>(k)] += slope * layer.hidden[static_cast<size_t>(i * layer.d_hidden + k)];
      row<T>(d.weights.hidden, i)[k] += slope * before[k];
    }
    values<T>(d.weights.hidden_bias)[i] += slope;
  }

 private:
  void give_start(const std::vector<T>& found, const Tensor& target, size_t s) const {
    if (target.data == nullptr) return;
    for (size_t j = 0; j < found.size(); ++j) row<T>(target, static_cast<int64_t>(s))[j] += found[j];
  }
};

}  // namespace

template <class T>
void ReferenceRecurrentBackward<T>::rnn(const RecurrentInput& in, const RnnOutput& y, const Tensor& dhidden,
                                        RecurrentGradients& d) {
  check_recurrent("rnn", type_of<T>(), in, 1, {&y.hidden, &dhidden}, true);
  check_recurrent_gradients("rnn", type_of<T>(), in, d);
  LayerBack<T> back(in, d);
  back.walk([&](size_t s, int64_t n) {
    const T *before = back.layer.before(in, s, n, y.hidden, in.start.hidden), *h = row<T>(y.hidden, n);
    std::vector<T> dbefore(back.layer.zeros);
    for (int64_t j = 0; j < back.layer.d_hidden; ++j) {
      const T slope = (row<T>(dhidden, n)[j] + back.dhidden[static_cast<size_t>(j)]) * (1 - h[j] * h[j]);
      back.from_input(0, j, slope, n);
      back.from_hidden(0, j, slope, before, dbefore);
    }
    back.dhidden = dbefore;
  });
}

template <class T>
void ReferenceRecurrentBackward<T>::lstm(const RecurrentInput& in, const LstmOutput& y, const Tensor& dcell,
                                         const Tensor& dhidden, RecurrentGradients& d) {
  check_recurrent("lstm", type_of<T>(), in, kLstmGates,
                  {&y.input, &y.forget, &y.candidate, &y.output, &y.cell, &y.hidden, &dhidden}, true);
  if (dcell.data != nullptr) check_recurrent("lstm", type_of<T>(), in, kLstmGates, {&dcell});
  check_recurrent_gradients("lstm", type_of<T>(), in, d);
  LayerBack<T> back(in, d);
  back.walk([&](size_t s, int64_t n) {
    const T* h_before = back.layer.before(in, s, n, y.hidden, in.start.hidden);
    const T* c_before = back.layer.before(in, s, n, y.cell, in.start.cell);
    std::vector<T> dbefore(back.layer.zeros);
    for (int64_t j = 0; j < back.layer.d_hidden; ++j) {
      const T i = row<T>(y.input, n)[j], f = row<T>(y.forget, n)[j], g = row<T>(y.candidate, n)[j];
      const T o = row<T>(y.output, n)[j], squashed = std::tanh(row<T>(y.cell, n)[j]);
      const T dh = row<T>(dhidden, n)[j] + back.dhidden[static_cast<size_t>(j)];
      const T given = dcell.data == nullptr ? 0 : row<T>(dcell, n)[j];
      const T dc = given + back.dcell[static_cast<size_t>(j)] + dh * o * (1 - squashed * squashed);
      const T slopes[kLstmGates] = {dc * g * i * (1 - i), dc * c_before[j] * f * (1 - f), dc * i * (1 - g * g),
                                    dh * squashed * o * (1 - o)};
      for (int gate = 0; gate < kLstmGates; ++gate) {
        back.from_input(gate, j, slopes[gate], n);
        back.from_hidden(gate, j, slopes[gate], h_before, dbefore);
      }
      back.dcell[static_cast<size_t>(j)] = dc * f;
    }
    back.dhidden = dbefore;
  });
}

template <class T>
void ReferenceRecurrentBackward<T>::gru(const RecurrentInput& in, GruReset reset, const GruOutput& y,
                                        const Tensor& dhidden, RecurrentGradients& d) {
  check_recurrent("gru", type_of<T>(), in, kGruGates,
                  {&y.reset, &y.update, &y.recurrent, &y.candidate, &y.hidden, &dhidden}, true);
  check_recurrent_gradients("gru", type_of<T>(), in, d);
  const bool is_before = reset == GruReset::before_product;
  LayerBack<T> back(in, d);
  const int64_t d_hidden = back.layer.d_hidden;
  back.walk([&](size_t s, int64_t n) {
    const T* h = back.layer.before(in, s, n, y.hidden, in.start.hidden);
    const T *r = row<T>(y.reset, n), *z = row<T>(y.update, n), *u = row<T>(y.recurrent, n);
    std::vector<T> dbefore(back.layer.zeros), kept(back.layer.zeros), dkept(back.layer.zeros);
    for (int64_t j = 0; j < d_hidden; ++j) kept[static_cast<size_t>(j)] = r[j] * h[j];
    std::vector<T> dreset(back.layer.zeros);
    for (int64_t j = 0; j < d_hidden; ++j) {
      const T candidate = row<T>(y.candidate, n)[j];
      const T dh = row<T>(dhidden, n)[j] + back.dhidden[static_cast<size_t>(j)];
      const T slope = dh * (1 - z[j]) * (1 - candidate * candidate);
      const T update_slope = dh * (h[j] - candidate) * z[j] * (1 - z[j]);
      dbefore[static_cast<size_t>(j)] += dh * z[j];
      back.from_input(GruGate::candidate, j, slope, n);
      if (is_before) {
        back.from_hidden(GruGate::candidate, j, slope, kept.data(), dkept);
      } else {
        back.from_hidden(GruGate::candidate, j, slope * r[j], h, dbefore);
        dreset[static_cast<size_t>(j)] = slope * u[j];
      }
      back.from_input(GruGate::update, j, update_slope, n);
      back.from_hidden(GruGate::update, j, update_slope, h, dbefore);
    }
    for (int64_t j = 0; j < d_hidden; ++j) {
      const auto i = static_cast<size_t>(j);
      if (is_before) dreset[i] = dkept[i] * h[j];
      if (is_before) dbefore[i] += dkept[i] * r[j];
      const T slope = dreset[i] * r[j] * (1 - r[j]);
      back.from_input(GruGate::reset, j, slope, n);
      back.from_hidden(GruGate::reset, j, slope, h, dbefore);
    }
    back.dhidden = dbefore;
  });
}

template class ReferenceRecurrentBackward<float>;
template class ReferenceRecurrentBackward<double>;

}  // namespace orrery
