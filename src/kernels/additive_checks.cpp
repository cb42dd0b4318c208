#include "kernels/additive_checks.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "kernels/backward_checks.h"

namespace orrery {
namespace {

constexpr const char* kOperation = "additive attention";

void require(bool fits, const char* expected, const Tensor& tensor) {
  if (fits) return;
  throw Error({.what = "a tensor does not fit the others",
               .where = kOperation,
               .expected = expected,
               .found = std::string(tensor.name) + " " + shape_text(tensor) + " " + info(tensor.dtype).name});
}

void require_groups(bool fits, const std::string& expected, size_t group) {
  if (fits) return;
  throw Error({.what = "the groups of queries and keys make no sense",
               .where = std::string(kOperation) + ", group " + std::to_string(group),
               .expected = expected});
}

bool is_rows(DType activations, const Tensor& tensor) {
  return tensor.n_dims == 2 && tensor.dtype == activations && tensor.stride[0] >= tensor.shape[1] &&
         (tensor.stride[1] == 1 || tensor.shape[1] <= 1) && (tensor.data != nullptr || n_elements(tensor) == 0);
}

}  // namespace

void check_additive(DType activations, const AdditiveInput& in, const AdditiveOutput& y) {
  for (const Tensor* tensor : {&in.q, &in.keys, &in.values, &y.weights, &y.mix}) {
    require(is_rows(activations, *tensor), "a matrix of the type of the activations", *tensor);
  }
  const int64_t n = in.q.shape[0], m = in.keys.shape[0], d_score = in.q.shape[1];
  require(in.keys.shape[1] == d_score, "keys as wide as the queries", in.keys);
  require(in.score.n_dims == 1 && in.score.shape[0] == d_score && in.score.dtype == activations, "[d_score]", in.score);
  require(in.values.shape[0] == m, "a value for each key", in.values);
  require(y.mix.shape[0] == n && y.mix.shape[1] == in.values.shape[1], "[n, d_value]", y.mix);
  require(y.weights.shape[0] == n, "weights of each query", y.weights);
  int64_t next = 0;
  for (size_t i = 0; i < in.groups.size(); ++i) {
    const auto& [queries, keys] = in.groups[i];
    require_groups(queries.first == next && queries.count >= 0, "its queries to follow those of the group before", i);
    require_groups(keys.first >= 0 && keys.count >= 1 && keys.count <= m - keys.first,
                   "keys among the " + std::to_string(m) + " that there are", i);
    require(keys.count <= y.weights.shape[1], "a column for every key of a group", y.weights);
    next += queries.count;
  }
  require(next == n, "as many queries as the groups have", in.q);
}

void check_additive_gradients(DType activations, const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                              const AdditiveGradients& d) {
  check_additive(activations, in, y);
  check_gradient(kOperation, activations, y.mix, dmix);
  check_gradient(kOperation, activations, in.q, d.q);
  check_gradient(kOperation, activations, in.keys, d.keys);
  check_gradient(kOperation, activations, in.score, d.score);
  check_gradient(kOperation, activations, in.values, d.values);
  int64_t end = 0;
  for (size_t i = 0; i < in.groups.size(); ++i) {
    require_groups(in.groups[i].keys.first >= end, "keys behind those of the group before", i);
    end = in.groups[i].keys.first + in.groups[i].keys.count;
  }
}

}  // namespace orrery
