#include "kernels/reference/reference_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/check_shapes.h"
#include "kernels/reference/plain.h"

namespace orrery {

using namespace plain;

template <class T>
const char* ReferenceKernels<T>::name() const {
  return sizeof(T) == 4 ? "reference" : "reference (double)";
}

template <class T>
DType ReferenceKernels<T>::activation_type() const {
  return type_of<T>();
}

template <class T>
void ReferenceKernels<T>::embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) {
  check_embed(activation_type(), table, ids, y);
  const int64_t d = y.shape[1];
  for (size_t n = 0; n < ids.size(); ++n) {
    convert_row(table.dtype, row_data(table, ids[n]), type_of<T>(), row_data(y, static_cast<int64_t>(n)), d);
  }
}

template <class T>
void ReferenceKernels<T>::matmul(const Tensor& x, const Tensor& w, Tensor& y) {
  check_matmul(activation_type(), x, w, y);
  const int64_t n_rows = x.shape[0], n_in = x.shape[1], n_out = w.shape[0];
  threads_.parallel_for(n_out, 16, [&](int64_t begin, int64_t end) {
    std::vector<T> weights(static_cast<size_t>(n_in));
    for (int64_t o = begin; o < end; ++o) {
      read_row(w, o, weights);
      for (int64_t n = 0; n < n_rows; ++n) {
        row<T>(y, n)[o] = dot(row<T>(x, n), weights.data(), n_in);
      }
    }
  });
}

template <class T>
void ReferenceKernels<T>::add(const Tensor& a, const Tensor& b, Tensor& y) {
  check_add(activation_type(), a, b, y);
  const int64_t d = a.shape[a.n_dims - 1], n_rows = n_elements(a) / d;
  const bool is_row = b.n_dims == 1 && a.n_dims > 1;
  std::vector<T> addend(static_cast<size_t>(d));
  for (int64_t n = 0; n < n_rows; ++n) {
    convert_row(b.dtype, is_row ? b.data : run_data(b, n, d), type_of<T>(), bytes(addend), d);
    for (int64_t i = 0; i < d; ++i) run<T>(y, n, d)[i] = run<T>(a, n, d)[i] + addend[size_t(i)];
  }
}

template <class T>
void ReferenceKernels<T>::scale(const Tensor& x, double factor, Tensor& y) {
  check_scale(activation_type(), x, y);
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t i = 0; i < x.shape[1]; ++i) row<T>(y, n)[i] = row<T>(x, n)[i] * static_cast<T>(factor);
  }
}

template <class T>
void ReferenceKernels<T>::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) {
  check_rms_norm(activation_type(), x, gain, y);
  const int64_t d = gain.shape[0], n_rows = n_elements(x) / d;
  const std::vector<T> g = vector_of<T>(gain);
  for (int64_t n = 0; n < n_rows; ++n) {
    const T* in = run<T>(x, n, d);
    T* out = run<T>(y, n, d);
    const T mean_square = dot(in, in, d) / static_cast<T>(d);
    const T factor = 1 / std::sqrt(mean_square + static_cast<T>(epsilon));
    for (int64_t i = 0; i < d; ++i) out[i] = in[i] * factor * g[size_t(i)];
  }
}

template <class T>
void ReferenceKernels<T>::layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon,
                                     Tensor& y) {
  check_layer_norm(activation_type(), x, gain, bias, y);
  const int64_t d = gain.shape[0], n_rows = n_elements(x) / d;
  const std::vector<T> g = vector_of<T>(gain), b = vector_of<T>(bias);
  for (int64_t n = 0; n < n_rows; ++n) {
    const T* in = run<T>(x, n, d);
    T* out = run<T>(y, n, d);
    const T mean = std::accumulate(in, in + d, T(0)) / static_cast<T>(d);
    T variance = 0;
    for (int64_t i = 0; i < d; ++i) variance += (in[i] - mean) * (in[i] - mean);
    variance /= static_cast<T>(d);
    const T factor = 1 / std::sqrt(variance + static_cast<T>(epsilon));
    for (int64_t i = 0; i < d; ++i) out[i] = (in[i] - mean) * factor * g[size_t(i)] + b[size_t(i)];
  }
}

template <class T>
void ReferenceKernels<T>::rope_angles(std::span<const int> positions, std::span<const double> frequencies,
                                      Tensor& cosine, Tensor& sine) {
  check_rope_angles(activation_type(), positions, frequencies, cosine, sine);
  for (size_t n = 0; n < positions.size(); ++n) {
    for (size_t i = 0; i < frequencies.size(); ++i) {
      // In double also for float: at position 8000 a float angle is already off by a thousandth of a turn.
      const double angle = positions[n] * frequencies[i];
      row<T>(cosine, static_cast<int64_t>(n))[i] = static_cast<T>(std::cos(angle));
      row<T>(sine, static_cast<int64_t>(n))[i] = static_cast<T>(std::sin(angle));
    }
  }
}

template <class T>
void ReferenceKernels<T>::rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout,
                               int head_dim, Tensor& y) {
  check_rope(activation_type(), x, cosine, sine, head_dim, y);
  const int64_t n_pairs = cosine.shape[1], d = x.shape[1];
  const bool interleaved = layout == RopeLayout::interleaved;
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t head = 0; head < d; head += head_dim) {
      const T* in = row<T>(x, n) + head;
      T* out = row<T>(y, n) + head;
      for (int64_t i = 0; i < n_pairs; ++i) {
        const int64_t first = interleaved ? 2 * i : i;
        const int64_t second = interleaved ? 2 * i + 1 : i + n_pairs;
        const T c = row<T>(cosine, n)[i], s = row<T>(sine, n)[i];
        out[first] = in[first] * c - in[second] * s;
        out[second] = in[first] * s + in[second] * c;
      }
      for (int64_t i = 2 * n_pairs; i < head_dim; ++i) out[i] = in[i];
    }
  }
}

template <class T>
void ReferenceKernels<T>::activate(Activation activation, const Tensor& x, Tensor& y) {
  check_activate(activation_type(), x, y);
  const int64_t d = x.shape[x.n_dims - 1], n_rows = n_elements(x) / d;
  for (int64_t n = 0; n < n_rows; ++n) {
    for (int64_t i = 0; i < d; ++i) run<T>(y, n, d)[i] = activated(activation, run<T>(x, n, d)[i]);
  }
}

template <class T>
void ReferenceKernels<T>::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) {
  check_activate_gated(activation_type(), gate, up, y);
  const int64_t d = gate.shape[gate.n_dims - 1], n_rows = n_elements(gate) / d;
  for (int64_t n = 0; n < n_rows; ++n) {
    for (int64_t i = 0; i < d; ++i) {
      run<T>(y, n, d)[i] = activated(activation, run<T>(gate, n, d)[i]) * run<T>(up, n, d)[i];
    }
  }
}

template <class T>
void ReferenceKernels<T>::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups,
                                    const Tensor& q, Tensor& mix) {
  check_attention(activation_type(), shape, groups, q, mix);
  for (const AttentionGroup& group : groups) {
    const int64_t n_rows = static_cast<int64_t>(group.positions.size()), n_keys = count_keys(group);
    std::vector<T> storage(static_cast<size_t>(shape.n_heads * n_rows * n_keys));
    Tensor scores = make_tensor("scores", type_of<T>(), {shape.n_heads, n_rows, n_keys}, bytes(storage));
    std::vector<T> weight_storage(storage.size());
    Tensor weights = make_tensor("weights", type_of<T>(), {shape.n_heads, n_rows, n_keys}, bytes(weight_storage));
    attention_scores(shape, group, q, scores);
    softmax(scores, weights);
    attention_mix(shape, group, weights, mix);
  }
}

template <class T>
void ReferenceKernels<T>::attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                                           Tensor& scores) {
  check_attention_scores(activation_type(), shape, group, q, scores);
  const int64_t n_rows = scores.shape[1], n_keys = scores.shape[2], head_dim = shape.head_dim;
  const int heads_per_kv = shape.n_heads / shape.n_kv_heads;
  threads_.parallel_for(shape.n_heads, 1, [&](int64_t head, int64_t) {
    std::vector<T> key(static_cast<size_t>(head_dim));
    for (int64_t j = 0; j < n_keys; ++j) {
      const Tensor& keys = group.spans[size_t(j / kAttentionChunk)].keys;
      read_part(keys, j % kAttentionChunk, head / heads_per_kv * head_dim, key);
      for (int64_t r = 0; r < n_rows; ++r) {
        const T* query = row<T>(q, group.first_row + r) + head * head_dim;
        const int position = group.positions[size_t(r)];
        const bool visible = j >= shape.first_key(position) && j <= position;
        values<T>(scores)[(head * n_rows + r) * n_keys + j] =
            visible ? dot(query, key.data(), head_dim) * static_cast<T>(shape.scale)
                    : -std::numeric_limits<T>::infinity();
      }
    }
  });
}

template <class T>
void ReferenceKernels<T>::softmax(const Tensor& x, Tensor& y) {
  check_softmax(activation_type(), x, y);
  const int64_t d = x.shape[x.n_dims - 1], n_rows = n_elements(x) / d;
  for (int64_t n = 0; n < n_rows; ++n) {
    const T* in = run<T>(x, n, d);
    T* out = run<T>(y, n, d);
    const T largest_value = *std::max_element(in, in + d);  // exp of a large score would overflow
    T sum = 0;
    for (int64_t i = 0; i < d; ++i) sum += out[i] = std::exp(in[i] - largest_value);
    for (int64_t i = 0; i < d; ++i) out[i] /= sum;
  }
}

template <class T>
void ReferenceKernels<T>::attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                                        Tensor& mix) {
  check_attention_mix(activation_type(), shape, group, weights, mix);
  const int64_t n_rows = weights.shape[1], n_keys = weights.shape[2], head_dim = shape.head_dim;
  const int heads_per_kv = shape.n_heads / shape.n_kv_heads;
  threads_.parallel_for(shape.n_heads, 1, [&](int64_t head, int64_t) {
    std::vector<T> value(static_cast<size_t>(head_dim));
    const auto out = [&](int64_t r) { return row<T>(mix, group.first_row + r) + head * head_dim; };
    for (int64_t r = 0; r < n_rows; ++r) std::fill_n(out(r), head_dim, T(0));
    for (int64_t j = 0; j < n_keys; ++j) {
      const Tensor& all = group.spans[size_t(j / kAttentionChunk)].values;
      read_part(all, j % kAttentionChunk, head / heads_per_kv * head_dim, value);
      for (int64_t r = 0; r < n_rows; ++r) {
        // A key that may not be seen has no part in the sum, not even as 0 * NaN.
        if (j < shape.first_key(group.positions[size_t(r)]) || j > group.positions[size_t(r)]) continue;
        const T weight = values<T>(weights)[(head * n_rows + r) * n_keys + j];
        for (int64_t i = 0; i < head_dim; ++i) out(r)[i] += weight * value[size_t(i)];
      }
    }
  });
}

template <class T>
void ReferenceKernels<T>::convert(const Tensor& x, Tensor& y) {
  check_convert(x, y);
  const int64_t d = x.shape[x.n_dims - 1], n_rows = n_elements(x) / d;
  for (int64_t n = 0; n < n_rows; ++n) {
    convert_row(x.dtype, run_data(x, n, d), y.dtype, run_data(y, n, d), d);
  }
}

template <class T>
int64_t ReferenceKernels<T>::first_non_finite(const Tensor& x) {
  check_first_non_finite(activation_type(), x);
  const int64_t n = n_elements(x);
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(values<T>(x)[i])) return i;
  }
  return -1;
}

template <class T>
std::vector<Candidate> ReferenceKernels<T>::largest(const Tensor& logits, int64_t count) {
  check_largest(activation_type(), logits, count);
  const T* value = values<T>(logits);
  std::vector<int32_t> ids(static_cast<size_t>(n_elements(logits)));
  std::iota(ids.begin(), ids.end(), 0);
  const size_t kept = std::min(ids.size(), static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end(),
                    [&](int32_t a, int32_t b) { return value[a] != value[b] ? value[a] > value[b] : a < b; });
  std::vector<Candidate> result(kept);
  for (size_t i = 0; i < kept; ++i) result[i] = {ids[i], static_cast<float>(value[ids[i]])};
  return result;
}

template <class T>
void ReferenceKernels<T>::cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                                        std::span<double> losses) {
  check_cross_entropy(activation_type(), logits, targets, losses);
  const int64_t vocab = logits.shape[1];
  for (size_t n = 0; n < targets.size(); ++n) {
    const T* in = row<T>(logits, static_cast<int64_t>(n));
    const double largest_value = *std::max_element(in, in + vocab);
    double sum = 0;
    for (int64_t i = 0; i < vocab; ++i) sum += std::exp(in[i] - largest_value);
    losses[n] = std::log(sum) + largest_value - in[targets[n]];
  }
}

template class ReferenceKernels<float>;
template class ReferenceKernels<double>;

}  // namespace orrery
