// Additive attention, there and back. A piece of work is one group: nobody else writes what belongs to it.
#include <algorithm>

#include "kernels/additive_checks.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/fast/rows.h"

namespace orrery {

void FastKernels::attend_additively(const AdditiveInput& in, AdditiveOutput& y) {
  check_additive(activation_type(), in, y);
  const Rows q(in.q), all_keys(in.keys), all_values(in.values), weights(y.weights), mix(y.mix);
  const float* v = values<float>(in.score);
  threads_.parallel_for(static_cast<int64_t>(in.groups.size()), 1, [&](int64_t g, int64_t) {
    const auto& [queries, keys] = in.groups[static_cast<size_t>(g)];
    for (int64_t i = queries.first; i < queries.first + queries.count; ++i) {
      float* weight = weights[i];
      for (int64_t j = 0; j < keys.count; ++j) {
        weight[j] = loops_.additive_score(q[i], all_keys[keys.first + j], v, q.width);
      }
      const float total = loops_.exponentials(weight, loops_.maximum(weight, keys.count), keys.count, weight);
      loops_.scale(weight, 1 / total, keys.count, weight);
      std::fill(weight + keys.count, weight + weights.width, 0.0f);
      std::fill_n(mix[i], mix.width, 0.0f);
      loops_.add_weighted_rows(weight, all_values[keys.first], all_values.stride, keys.count, mix[i], mix.width);
    }
  });
}

void FastBackward::attend_additively(const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                                     AdditiveGradients& d) {
  check_additive_gradients(activation_type(), in, y, dmix, d);
  const Rows q(in.q), all_keys(in.keys), all_values(in.values), weights(y.weights), mix(y.mix), dy(dmix);
  const Rows dq(d.q), dkeys(d.keys), dvalues(d.values);
  const float* v = values<float>(in.score);
  const auto n_groups = static_cast<int64_t>(in.groups.size());
  // Each group has a gradient of v of its own; they are added up in the order of the groups.
  partials_.assign(static_cast<size_t>(n_groups * q.width), 0.0f);
  threads_.parallel_for(n_groups, 1, [&](int64_t g, int64_t) {
    const auto& [queries, keys] = in.groups[static_cast<size_t>(g)];
    float* dv = partials_.data() + g * q.width;
    const auto scratch = scratch_.borrow({keys.count});
    float* slopes = scratch[0];
    for (int64_t i = queries.first; i < queries.first + queries.count; ++i) {
      for (int64_t j = 0; j < keys.count; ++j) {
        slopes[j] = back_.dot(dy[i], all_values[keys.first + j], dy.width);
        back_.add_scaled(dy[i], weights[i][j], dy.width, dvalues[keys.first + j]);
      }
      // The mean of the slopes by the weights is mix . dmix.
      back_.softmax(weights[i], back_.dot(mix[i], dy[i], dy.width), keys.count, slopes);
      for (int64_t j = 0; j < keys.count; ++j) {
        back_.additive_score(q[i], all_keys[keys.first + j], v, slopes[j], q.width, dq[i], dkeys[keys.first + j], dv);
      }
    }
  });
  float* total = values<float>(d.score);
  for (int64_t g = 0; g < n_groups; ++g) back_.add_scaled(partials_.data() + g * q.width, 1, q.width, total);
}

}  // namespace orrery
