#include "kernels/reference/additive.h"

#include <algorithm>
#include <limits>

#include "kernels/additive_checks.h"
#include "kernels/reference/plain.h"

namespace orrery {

using namespace plain;

template <class T>
void ReferenceAdditive<T>::attend_additively(const AdditiveInput& in, AdditiveOutput& y) {
  check_additive(this->activation_type(), in, y);
  const int64_t d_score = in.q.shape[1], d_value = in.values.shape[1];
  const T* v = values<T>(in.score);
  for (const auto& [queries, keys] : in.groups) {
    for (int64_t i = queries.first; i < queries.first + queries.count; ++i) {
      T *weight = row<T>(y.weights, i), *mix = row<T>(y.mix, i);
      std::fill_n(weight, y.weights.shape[1], T(0));
      std::fill_n(mix, d_value, T(0));
      const T* q = row<T>(in.q, i);
      T largest = -std::numeric_limits<T>::infinity(), total = 0;
      for (int64_t j = 0; j < keys.count; ++j) {
        const T* k = row<T>(in.keys, keys.first + j);
        for (int64_t e = 0; e < d_score; ++e) weight[j] += v[e] * std::tanh(q[e] + k[e]);
        largest = std::max(largest, weight[j]);
      }
      for (int64_t j = 0; j < keys.count; ++j) total += weight[j] = std::exp(weight[j] - largest);
      for (int64_t j = 0; j < keys.count; ++j) {
        weight[j] /= total;
        for (int64_t e = 0; e < d_value; ++e) mix[e] += weight[j] * row<T>(in.values, keys.first + j)[e];
      }
    }
  }
}

// With w = softmax(s): dvalue += w * dmix; dw = dmix . value; ds = w * (dw - sum of w * dw); and through the network
// dv += ds * t, dq and dk += ds * v * (1 - t^2) with t = tanh(q + k).
template <class T>
void ReferenceAdditiveBackward<T>::attend_additively(const AdditiveInput& in, const AdditiveOutput& y,
                                                     const Tensor& dmix, AdditiveGradients& d) {
  check_additive_gradients(this->activation_type(), in, y, dmix, d);
  const int64_t d_score = in.q.shape[1], d_value = in.values.shape[1];
  const T* v = values<T>(in.score);
  T* dv = values<T>(d.score);
  for (const auto& [queries, keys] : in.groups) {
    std::vector<T> slope(static_cast<size_t>(keys.count));
    for (int64_t i = queries.first; i < queries.first + queries.count; ++i) {
      const T *weight = row<T>(y.weights, i), *dy = row<T>(dmix, i), *q = row<T>(in.q, i);
      T* dq = row<T>(d.q, i);
      T mean = 0;
      for (int64_t j = 0; j < keys.count; ++j) {
        slope[size_t(j)] = dot(dy, row<T>(in.values, keys.first + j), d_value);
        mean += weight[j] * slope[size_t(j)];
        for (int64_t e = 0; e < d_value; ++e) row<T>(d.values, keys.first + j)[e] += weight[j] * dy[e];
      }
      for (int64_t j = 0; j < keys.count; ++j) {
        const T ds = weight[j] * (slope[size_t(j)] - mean);
        const T* k = row<T>(in.keys, keys.first + j);
        T* dk = row<T>(d.keys, keys.first + j);
        for (int64_t e = 0; e < d_score; ++e) {
          const T t = std::tanh(q[e] + k[e]), through = ds * v[e] * (1 - t * t);
          dv[e] += ds * t;
          dq[e] += through;
          dk[e] += through;
        }
      }
    }
  }
}

template class ReferenceAdditive<float>;
template class ReferenceAdditive<double>;
template class ReferenceAdditiveBackward<float>;
template class ReferenceAdditiveBackward<double>;

}  // namespace orrery
