#include "kernels/reference/backward.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/backward_checks.h"
#include "kernels/check_shapes.h"
#include "kernels/dropout.h"
#include "kernels/reference/plain.h"

namespace orrery {

using namespace plain;

namespace {

// Activation and slope at x: f(x) and f'(x).
template <class T>
struct ValueAndSlope {
  T value, slope;
};

template <class T>
ValueAndSlope<T> value_and_slope(Activation activation, T x) {
  if (activation == Activation::silu) {  // x * s(x), and s' = s * (1 - s)
    const T sigmoid = 1 / (1 + std::exp(-x));
    return {x * sigmoid, sigmoid * (1 + x * (1 - sigmoid))};
  }
  // x/2 * (1 + tanh(u(x))), and tanh' = 1 - tanh^2. Far out the slope is 0 or 1, but x * x might be infinite there.
  const T near = std::isnan(x) ? x : std::clamp<T>(x, -20, 20);
  const T factor = static_cast<T>(std::sqrt(2 / std::numbers::pi)), cubic = static_cast<T>(0.044715);
  const T tanh = std::tanh(factor * (near + cubic * near * near * near));
  const T slope_of_u = factor * (1 + 3 * cubic * near * near);
  return {activated(activation, x), (1 + tanh) / 2 + near / 2 * (1 - tanh * tanh) * slope_of_u};
}

// Row n of a tensor seen as rows of its last dimension.
template <class T>
T* line(const Tensor& tensor, int64_t n) {
  return values<T>(tensor) + n * (tensor.n_dims == 2 ? tensor.stride[0] : tensor.shape[tensor.n_dims - 1]);
}

int64_t width_of(const Tensor& tensor) { return tensor.shape[tensor.n_dims - 1]; }
int64_t count_lines(const Tensor& tensor) { return width_of(tensor) == 0 ? 0 : n_elements(tensor) / width_of(tensor); }

// The probabilities of the keys that one query sees.
template <class T>
void softmax_in_place(std::vector<T>& scores) {
  const T largest = *std::max_element(scores.begin(), scores.end());
  T sum = 0;
  for (T& score : scores) sum += score = std::exp(score - largest);
  for (T& score : scores) score /= sum;
}

}  // namespace

template <class T>
void ReferenceBackward<T>::clear(Tensor& gradient) {
  check_update("clear", activation_type(), {&gradient});
  std::fill_n(values<T>(gradient), n_elements(gradient), T(0));
}

template <class T>
void ReferenceBackward<T>::embed(std::span<const int32_t> ids, const Tensor& dy, Tensor& dtable) {
  check_embed(activation_type(), dtable, ids, dy);
  check_gradient("embed", activation_type(), dtable, dtable);
  for (size_t n = 0; n < ids.size(); ++n) {
    const T* from = row<T>(dy, static_cast<int64_t>(n));
    T* to = row<T>(dtable, ids[n]);
    for (int64_t i = 0; i < dy.shape[1]; ++i) to[i] += from[i];
  }
}

template <class T>
void ReferenceBackward<T>::matmul_input(const Tensor& dy, const Tensor& w, Tensor& dx) {
  check_matmul(activation_type(), dx, w, dy);
  check_gradient("matmul", activation_type(), w, w);
  const int64_t n_rows = dx.shape[0], n_in = dx.shape[1], n_out = w.shape[0];
  threads_.parallel_for(n_rows, 1, [&](int64_t n, int64_t) {
    for (int64_t o = 0; o < n_out; ++o) {
      const T slope = row<T>(dy, n)[o];
      for (int64_t i = 0; i < n_in; ++i) row<T>(dx, n)[i] += slope * row<T>(w, o)[i];
    }
  });
}

template <class T>
void ReferenceBackward<T>::matmul_weight(const Tensor& dy, const Tensor& x, Tensor& dw) {
  check_matmul(activation_type(), x, dw, dy);
  check_gradient("matmul", activation_type(), dw, dw);
  const int64_t n_rows = x.shape[0], n_in = x.shape[1], n_out = dw.shape[0];
  threads_.parallel_for(n_out, 1, [&](int64_t o, int64_t) {
    for (int64_t n = 0; n < n_rows; ++n) {
      const T slope = row<T>(dy, n)[o];
      for (int64_t i = 0; i < n_in; ++i) row<T>(dw, o)[i] += slope * row<T>(x, n)[i];
    }
  });
}

template <class T>
void ReferenceBackward<T>::add(const Tensor& dy, Tensor& da) {
  check_add(activation_type(), dy, da, dy);
  check_gradient("add", activation_type(), da, da);
  const bool is_row = da.n_dims == 1 && dy.n_dims > 1;
  for (int64_t n = 0; n < count_lines(dy); ++n) {
    T* to = line<T>(da, is_row ? 0 : n);
    for (int64_t i = 0; i < width_of(dy); ++i) to[i] += line<T>(dy, n)[i];
  }
}

// y = x * r * gain with r = (mean(x^2) + epsilon)^(-1/2), so dr/dx = -r^3 * x / d.
template <class T>
void ReferenceBackward<T>::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                                    Tensor& dgain) {
  check_rms_norm(activation_type(), x, gain, dy);
  check_gradient("rms_norm", activation_type(), x, dx);
  check_gradient("rms_norm", activation_type(), gain, dgain);
  const int64_t d = gain.shape[0], n_rows = count_lines(x);
  const T* g = values<T>(gain);
  for (int64_t n = 0; n < n_rows; ++n) {
    const T *in = line<T>(x, n), *slope = line<T>(dy, n);
    T* out = line<T>(dx, n);
    const T r = 1 / std::sqrt(dot(in, in, d) / static_cast<T>(d) + static_cast<T>(epsilon));
    T along = 0;  // how much of the gradient points along x: that part only changes r
    for (int64_t i = 0; i < d; ++i) along += slope[i] * g[i] * in[i];
    for (int64_t i = 0; i < d; ++i) {
      out[i] += r * (slope[i] * g[i] - in[i] * along * r * r / static_cast<T>(d));
      values<T>(dgain)[i] += slope[i] * in[i] * r;
    }
  }
}

// y = z * gain + bias with z = (x - mean) * r. Moving all x, or stretching them, does not change z.
template <class T>
void ReferenceBackward<T>::layer_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                                      Tensor& dgain, Tensor& dbias) {
  check_layer_norm(activation_type(), x, gain, gain, dy);
  check_gradient("layer_norm", activation_type(), x, dx);
  check_gradient("layer_norm", activation_type(), gain, dgain);
  check_gradient("layer_norm", activation_type(), gain, dbias);
  const int64_t d = gain.shape[0], n_rows = count_lines(x);
  const T* g = values<T>(gain);
  for (int64_t n = 0; n < n_rows; ++n) {
    const T *in = line<T>(x, n), *slope = line<T>(dy, n);
    T* out = line<T>(dx, n);
    const T mean = std::accumulate(in, in + d, T(0)) / static_cast<T>(d);
    T variance = 0;
    for (int64_t i = 0; i < d; ++i) variance += (in[i] - mean) * (in[i] - mean);
    const T r = 1 / std::sqrt(variance / static_cast<T>(d) + static_cast<T>(epsilon));
    T mean_dz = 0, mean_dz_z = 0;
    for (int64_t i = 0; i < d; ++i) {
      mean_dz += slope[i] * g[i] / static_cast<T>(d);
      mean_dz_z += slope[i] * g[i] * (in[i] - mean) * r / static_cast<T>(d);
    }
    for (int64_t i = 0; i < d; ++i) {
      const T z = (in[i] - mean) * r;
      out[i] += r * (slope[i] * g[i] - mean_dz - z * mean_dz_z);
      values<T>(dgain)[i] += slope[i] * z;
      values<T>(dbias)[i] += slope[i];
    }
  }
}

template <class T>
void ReferenceBackward<T>::rope(const Tensor& dy, const Tensor& cosine, const Tensor& sine, RopeLayout layout,
                                int head_dim, Tensor& dx) {
  check_rope(activation_type(), dy, cosine, sine, head_dim, dx);
  const int64_t n_pairs = cosine.shape[1];
  const bool interleaved = layout == RopeLayout::interleaved;
  for (int64_t n = 0; n < dy.shape[0]; ++n) {
    for (int64_t head = 0; head < dy.shape[1]; head += head_dim) {
      const T* slope = row<T>(dy, n) + head;
      T* out = row<T>(dx, n) + head;
      for (int64_t i = 0; i < n_pairs; ++i) {
        const int64_t first = interleaved ? 2 * i : i;
        const int64_t second = interleaved ? 2 * i + 1 : i + n_pairs;
        const T c = row<T>(cosine, n)[i], s = row<T>(sine, n)[i];
        out[first] += slope[first] * c + slope[second] * s;
        out[second] += slope[second] * c - slope[first] * s;
      }
      for (int64_t i = 2 * n_pairs; i < head_dim; ++i) out[i] += slope[i];
    }
  }
}

template <class T>
void ReferenceBackward<T>::activate(Activation activation, const Tensor& x, const Tensor& dy, Tensor& dx) {
  check_activate(activation_type(), x, dy);
  check_gradient("activate", activation_type(), x, dx);
  for (int64_t n = 0; n < count_lines(x); ++n) {
    const T *in = line<T>(x, n), *slope = line<T>(dy, n);
    T* out = line<T>(dx, n);
    for (int64_t i = 0; i < width_of(x); ++i) out[i] += slope[i] * value_and_slope(activation, in[i]).slope;
  }
}

template <class T>
void ReferenceBackward<T>::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& dy,
                                          Tensor& dgate, Tensor& dup) {
  check_activate_gated(activation_type(), gate, up, dy);
  check_gradient("activate_gated", activation_type(), gate, dgate);
  check_gradient("activate_gated", activation_type(), up, dup);
  for (int64_t n = 0; n < count_lines(gate); ++n) {
    for (int64_t i = 0; i < width_of(gate); ++i) {
      const T slope = line<T>(dy, n)[i];
      const ValueAndSlope<T> at_gate = value_and_slope(activation, line<T>(gate, n)[i]);
      line<T>(dgate, n)[i] += slope * line<T>(up, n)[i] * at_gate.slope;
      line<T>(dup, n)[i] += slope * at_gate.value;
    }
  }
}

// One query at a time. With p = softmax(s), s = scale * q * k, mix = sum of p * v:
// dv = p * dmix; dp = dmix * v; ds = p * (dp - sum of p * dp); dq = scale * ds * k; dk = scale * ds * q.
template <class T>
void ReferenceBackward<T>::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups,
                                     const Tensor& q, const Tensor& mix, const Tensor& dmix, Tensor& dq,
                                     std::span<const AttentionGroup> dgroups) {
  check_attention(activation_type(), shape, groups, q, mix);
  check_gradient("attention", activation_type(), q, dq);
  check_gradient("attention", activation_type(), mix, dmix);
  check_group_gradients(activation_type(), groups, dgroups);
  const int64_t head_dim = shape.head_dim, heads_per_kv = shape.n_heads / shape.n_kv_heads;
  const T scale = static_cast<T>(shape.scale);
  threads_.parallel_for(shape.n_kv_heads, 1, [&](int64_t kv_head, int64_t) {
    // Line j of the spans, and of it the part of this head.
    const auto key = [&](const AttentionGroup& group, size_t j) {
      return row<T>(group.spans[j / kAttentionChunk].keys, int64_t(j % kAttentionChunk)) + kv_head * head_dim;
    };
    const auto value = [&](const AttentionGroup& group, size_t j) {
      return row<T>(group.spans[j / kAttentionChunk].values, int64_t(j % kAttentionChunk)) + kv_head * head_dim;
    };
    const auto go_back = [&](const AttentionGroup& group, const AttentionGroup& dgroup, size_t r, int64_t head) {
      const int64_t place = head * head_dim, line = group.first_row + static_cast<int64_t>(r);
      const T *query = row<T>(q, line) + place, *slope = row<T>(dmix, line) + place;
      const auto first = static_cast<size_t>(shape.first_key(group.positions[r]));
      std::vector<T> p(static_cast<size_t>(group.positions[r] + 1) - first), dp(p.size());
      for (size_t j = 0; j < p.size(); ++j) p[j] = dot(query, key(group, first + j), head_dim) * scale;
      softmax_in_place(p);
      for (size_t j = 0; j < p.size(); ++j) dp[j] = dot(slope, value(group, first + j), head_dim);
      const T mean_dp = dot(p.data(), dp.data(), static_cast<int64_t>(p.size()));
      for (size_t j = 0; j < p.size(); ++j) {
        const T ds = p[j] * (dp[j] - mean_dp) * scale;
        for (int64_t i = 0; i < head_dim; ++i) {
          value(dgroup, first + j)[i] += p[j] * slope[i];
          row<T>(dq, line)[place + i] += ds * key(group, first + j)[i];
          key(dgroup, first + j)[i] += ds * query[i];
        }
      }
    };
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t r = 0; r < groups[g].positions.size(); ++r) {
        for (int64_t h = 0; h < heads_per_kv; ++h) go_back(groups[g], dgroups[g], r, kv_head * heads_per_kv + h);
      }
    }
  });
}

template <class T>
void ReferenceBackward<T>::cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                                         std::span<const double> dlosses, Tensor& dlogits) {
  std::vector<double> losses(dlosses.size());
  check_cross_entropy(activation_type(), logits, targets, losses);
  check_gradient("cross_entropy", activation_type(), logits, dlogits);
  const int64_t vocab = logits.shape[1];
  for (size_t n = 0; n < targets.size(); ++n) {
    if (dlosses[n] == 0) continue;
    const T* in = row<T>(logits, static_cast<int64_t>(n));
    std::vector<T> p(in, in + vocab);
    softmax_in_place(p);
    p[static_cast<size_t>(targets[n])] -= 1;
    T* out = row<T>(dlogits, static_cast<int64_t>(n));
    for (int64_t i = 0; i < vocab; ++i) out[i] += static_cast<T>(dlosses[n]) * p[static_cast<size_t>(i)];
  }
}

template <class T>
double ReferenceBackward<T>::sum_of_squares(const Tensor& x) {
  check_update("sum_of_squares", activation_type(), {&x});
  double sum = 0;
  const int64_t n = n_elements(x);
  for (int64_t i = 0; i < n; ++i) sum += double{values<T>(x)[i]} * double{values<T>(x)[i]};
  return sum;
}

template <class T>
void ReferenceBackward<T>::scale(double factor, Tensor& x) {
  check_update("scale", activation_type(), {&x});
  const int64_t n = n_elements(x);
  for (int64_t i = 0; i < n; ++i) values<T>(x)[i] *= static_cast<T>(factor);
}

template <class T>
void ReferenceBackward<T>::drop(double share, uint64_t seed, Tensor& x) {
  check_update("drop", activation_type(), {&x});
  const T kept = static_cast<T>(1 / (1 - share));
  const int64_t n = n_elements(x);
  for (int64_t i = 0; i < n; ++i) values<T>(x)[i] *= is_dropped(share, seed, i) ? T{0} : kept;
}

template <class T>
void ReferenceBackward<T>::adamw(const AdamWStep& step, const Tensor& dw, Tensor& w, Tensor& mean, Tensor& square) {
  check_update("adamw", activation_type(), {&w, &dw, &mean, &square});
  const auto t = static_cast<double>(step.step);
  const T unbias_mean = static_cast<T>(1 / (1 - std::pow(step.beta1, t)));
  const T unbias_square = static_cast<T>(1 / (1 - std::pow(step.beta2, t)));
  const T rate = static_cast<T>(step.rate), epsilon = static_cast<T>(step.epsilon);
  const T kept = static_cast<T>(1 - step.rate * step.weight_decay);
  const T beta1 = static_cast<T>(step.beta1), fresh_mean = static_cast<T>(1 - step.beta1);
  const T beta2 = static_cast<T>(step.beta2), fresh_square = static_cast<T>(1 - step.beta2);
  const int64_t n = n_elements(w);
  for (int64_t i = 0; i < n; ++i) {
    const T g = values<T>(dw)[i];
    T &m = values<T>(mean)[i], &v = values<T>(square)[i];
    m = beta1 * m + fresh_mean * g;
    v = beta2 * v + fresh_square * g * g;
    values<T>(w)[i] = kept * values<T>(w)[i] - rate * (m * unbias_mean) / (std::sqrt(v * unbias_square) + epsilon);
  }
}

template <class T>
void ReferenceBackward<T>::sgd(const SgdStep& step, const Tensor& dw, Tensor& w, Tensor& momentum) {
  check_update("sgd", activation_type(), {&w, &dw, &momentum});
  const int64_t n = n_elements(w);
  for (int64_t i = 0; i < n; ++i) {
    T& b = values<T>(momentum)[i];
    b = static_cast<T>(step.momentum) * b + values<T>(dw)[i] + static_cast<T>(step.weight_decay) * values<T>(w)[i];
    values<T>(w)[i] -= static_cast<T>(step.rate) * b;
  }
}

template class ReferenceBackward<float>;
template class ReferenceBackward<double>;

}  // namespace orrery
