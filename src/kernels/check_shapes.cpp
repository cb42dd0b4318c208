#include "kernels/check_shapes.h"

#include <initializer_list>
#include <string>

#include "base/error.h"

namespace orrery {
namespace {

using Tensors = std::initializer_list<const Tensor*>;

[[noreturn]] void fail(const char* operation, const std::string& what, const std::string& expected, Tensors tensors) {
  std::string found;
  for (const Tensor* tensor : tensors) {
    const char* name = tensor->name[0] != '\0' ? tensor->name : "(unnamed)";
    found +=
        (found.empty() ? "" : ", ") + std::string(name) + " " + shape_text(*tensor) + " " + info(tensor->dtype).name;
  }
  throw Error({.what = what, .where = operation, .expected = expected, .found = found});
}

// The text is made only when something is wrong.
void require(bool fits, const char* operation, const char* expected, Tensors tensors) {
  if (!fits) fail(operation, "the tensors do not fit each other", expected, tensors);
}

// Elements of a row side by side, rows a whole number of blocks long; a matrix may have gaps between its
// rows.
bool has_usable_layout(const Tensor& tensor) {
  if (tensor.n_dims < 1 || tensor.n_dims > kMaxDims) return false;
  const int last = tensor.n_dims - 1;
  const int block = info(tensor.dtype).block_elements;
  if (tensor.shape[last] % block != 0) return false;
  if (tensor.data == nullptr && n_elements(tensor) != 0) return false;
  if (is_contiguous(tensor)) return true;
  return tensor.n_dims == 2 && (tensor.stride[1] == 1 || tensor.shape[1] <= 1) && tensor.stride[0] >= tensor.shape[1] &&
         tensor.stride[0] % block == 0;
}

void require_layout(const char* operation, Tensors tensors) {
  for (const Tensor* tensor : tensors) {
    if (!has_usable_layout(*tensor)) {
      fail(operation, "a tensor does not lie in memory as kernels need it",
           "elements of a row side by side, in whole blocks", {tensor});
    }
  }
}

void require_activations(const char* operation, DType activations, Tensors tensors) {
  require_layout(operation, tensors);
  for (const Tensor* tensor : tensors) {
    if (tensor->dtype != activations) {
      fail(operation, "an activation is of another type than these kernels compute in", info(activations).name,
           {tensor});
    }
  }
}

bool is_vector(const Tensor& tensor, int64_t length) {
  return tensor.n_dims == 1 && tensor.shape[0] == length && tensor.dtype != DType::Q8_0;
}

bool is_matrix(const Tensor& tensor, int64_t rows, int64_t columns) {
  return tensor.n_dims == 2 && tensor.shape[0] == rows && tensor.shape[1] == columns;
}

int64_t last_dimension(const Tensor& tensor) { return tensor.shape[tensor.n_dims - 1]; }

void require_index(const char* operation, int64_t index, int64_t limit, const Tensor& tensor) {
  if (index < 0 || index >= limit) {
    fail(operation, "index " + std::to_string(index) + " is out of range", "0 to " + std::to_string(limit - 1),
         {&tensor});
  }
}

void require_heads(const char* operation, const AttentionShape& shape) {
  if (shape.n_heads >= 1 && shape.n_kv_heads >= 1 && shape.head_dim >= 1 && shape.n_heads % shape.n_kv_heads == 0 &&
      shape.window >= 0) {
    return;
  }
  throw Error({.what = "the numbers of heads do not fit each other",
               .where = operation,
               .expected = "n_heads a multiple of n_kv_heads, all at least 1, a window of 0 or more",
               .found = std::to_string(shape.n_heads) + " heads, " + std::to_string(shape.n_kv_heads) +
                        " key-value heads, head_dim " + std::to_string(shape.head_dim) + ", window " +
                        std::to_string(shape.window)});
}

// `rows` is q or mix: a matrix that holds the group's rows.
void require_group(const char* operation, const AttentionShape& shape, const AttentionGroup& group,
                   const Tensor& rows) {
  const int64_t kv_dim = static_cast<int64_t>(shape.n_kv_heads) * shape.head_dim;
  for (size_t i = 0; i < group.spans.size(); ++i) {
    const auto& [keys, values] = group.spans[i];
    require_layout(operation, {&keys, &values});
    const bool is_last = i + 1 == group.spans.size();
    require(is_matrix(keys, keys.shape[0], kv_dim) && is_matrix(values, keys.shape[0], kv_dim) &&
                (is_last ? keys.shape[0] <= kAttentionChunk : keys.shape[0] == kAttentionChunk),
            operation, "keys and values [n_keys, n_kv_heads * head_dim], 128 keys in every span but the last",
            {&keys, &values});
    const auto& first = group.spans.front();
    require(keys.dtype == first.keys.dtype && values.dtype == first.values.dtype, operation,
            "all keys and all values of one group of one type", {&first.keys, &first.values, &keys, &values});
    // Each head has to begin at a block.
    require(shape.head_dim % info(keys.dtype).block_elements == 0 &&
                shape.head_dim % info(values.dtype).block_elements == 0,
            operation, "head_dim a whole number of blocks", {&keys, &values});
  }
  const auto n_rows = static_cast<int64_t>(group.positions.size());
  require(group.first_row >= 0 && group.first_row + n_rows <= rows.shape[0], operation, "the group's rows within it",
          {&rows});
  const int64_t n_keys = count_keys(group);
  for (const int position : group.positions) require_index(operation, position, n_keys, rows);
}

}  // namespace

void check_embed(DType activations, const Tensor& table, std::span<const int32_t> ids, const Tensor& y) {
  require_layout("embed", {&table});
  require_activations("embed", activations, {&y});
  require(table.n_dims == 2 && is_matrix(y, static_cast<int64_t>(ids.size()), table.shape[1]), "embed",
          "table [vocab, d], y [ids, d]", {&table, &y});
  for (const int32_t id : ids) require_index("embed", id, table.shape[0], table);
}

void check_matmul(DType activations, const Tensor& x, const Tensor& w, const Tensor& y) {
  require_layout("matmul", {&w});
  require_activations("matmul", activations, {&x, &y});
  require(x.n_dims == 2 && w.n_dims == 2 && x.shape[1] == w.shape[1] && is_matrix(y, x.shape[0], w.shape[0]), "matmul",
          "x [n, in], w [out, in], y [n, out]", {&x, &w, &y});
}

void check_add(DType activations, const Tensor& a, const Tensor& b, const Tensor& y) {
  require_activations("add", activations, {&a, &y});
  // b as a vector is a bias, which is a weight.
  const bool is_bias = a.n_dims >= 1 && is_vector(b, last_dimension(a));
  if (is_bias)
    require_layout("add", {&b});
  else
    require_activations("add", activations, {&b});
  require(same_shape(a, y) && (is_bias || same_shape(a, b)), "add", "a and y of one shape, b as well or [d]",
          {&a, &b, &y});
}

void check_scale(DType activations, const Tensor& x, const Tensor& y) {
  require_activations("scale", activations, {&x, &y});
  require(x.n_dims == 2 && same_shape(x, y), "scale", "x and y [n, d]", {&x, &y});
}

void check_rms_norm(DType activations, const Tensor& x, const Tensor& gain, const Tensor& y) {
  require_activations("rms_norm", activations, {&x, &y});
  require_layout("rms_norm", {&gain});
  require(same_shape(x, y) && is_vector(gain, last_dimension(x)), "rms_norm", "x and y of one shape [..., d], gain [d]",
          {&x, &gain, &y});
}

void check_layer_norm(DType activations, const Tensor& x, const Tensor& gain, const Tensor& bias, const Tensor& y) {
  require_activations("layer_norm", activations, {&x, &y});
  require_layout("layer_norm", {&gain, &bias});
  const int64_t d = last_dimension(x);
  require(same_shape(x, y) && is_vector(gain, d) && is_vector(bias, d), "layer_norm",
          "x and y of one shape [..., d], gain and bias [d]", {&x, &gain, &bias, &y});
}

void check_rope_angles(DType activations, std::span<const int> positions, std::span<const double> frequencies,
                       const Tensor& cosine, const Tensor& sine) {
  require_activations("rope_angles", activations, {&cosine, &sine});
  const auto rows = static_cast<int64_t>(positions.size());
  const auto pairs = static_cast<int64_t>(frequencies.size());
  require(is_matrix(cosine, rows, pairs) && is_matrix(sine, rows, pairs), "rope_angles",
          "cosine and sine [positions, frequencies]", {&cosine, &sine});
}

void check_rope(DType activations, const Tensor& x, const Tensor& cosine, const Tensor& sine, int head_dim,
                const Tensor& y) {
  require_activations("rope", activations, {&x, &cosine, &sine, &y});
  require(x.n_dims == 2 && same_shape(x, y) && same_shape(cosine, sine) && cosine.n_dims == 2 &&
              cosine.shape[0] == x.shape[0] && head_dim >= 1 && x.shape[1] % head_dim == 0 &&
              2 * cosine.shape[1] <= head_dim,
          "rope", "x and y [n, heads * head_dim], cosine and sine [n, pairs], 2 * pairs <= head_dim",
          {&x, &cosine, &sine, &y});
}

void check_activate(DType activations, const Tensor& x, const Tensor& y) {
  require_activations("activate", activations, {&x, &y});
  require(same_shape(x, y), "activate", "x and y of one shape", {&x, &y});
}

void check_activate_gated(DType activations, const Tensor& gate, const Tensor& up, const Tensor& y) {
  require_activations("activate_gated", activations, {&gate, &up, &y});
  require(same_shape(gate, up) && same_shape(gate, y), "activate_gated", "gate, up and y of one shape",
          {&gate, &up, &y});
}

void check_attention(DType activations, const AttentionShape& shape, std::span<const AttentionGroup> groups,
                     const Tensor& q, const Tensor& mix) {
  require_heads("attention", shape);
  require_activations("attention", activations, {&q, &mix});
  const int64_t q_dim = static_cast<int64_t>(shape.n_heads) * shape.head_dim;
  require(q.n_dims == 2 && is_matrix(q, q.shape[0], q_dim) && same_shape(q, mix), "attention",
          "q and mix [n, n_heads * head_dim]", {&q, &mix});
  for (const AttentionGroup& group : groups) require_group("attention", shape, group, q);
}

void check_attention_scores(DType activations, const AttentionShape& shape, const AttentionGroup& group,
                            const Tensor& q, const Tensor& scores) {
  require_heads("attention_scores", shape);
  require_activations("attention_scores", activations, {&q, &scores});
  const int64_t q_dim = static_cast<int64_t>(shape.n_heads) * shape.head_dim;
  require(q.n_dims == 2 && q.shape[1] == q_dim && scores.n_dims == 3 && scores.shape[0] == shape.n_heads &&
              scores.shape[1] == static_cast<int64_t>(group.positions.size()) && scores.shape[2] == count_keys(group),
          "attention_scores", "q [n, n_heads * head_dim], scores [n_heads, rows, keys]", {&q, &scores});
  require_group("attention_scores", shape, group, q);
}

void check_attention_mix(DType activations, const AttentionShape& shape, const AttentionGroup& group,
                         const Tensor& weights, const Tensor& mix) {
  require_heads("attention_mix", shape);
  require_activations("attention_mix", activations, {&weights, &mix});
  const int64_t q_dim = static_cast<int64_t>(shape.n_heads) * shape.head_dim;
  require(mix.n_dims == 2 && mix.shape[1] == q_dim && weights.n_dims == 3 && weights.shape[0] == shape.n_heads &&
              weights.shape[1] == static_cast<int64_t>(group.positions.size()) && weights.shape[2] == count_keys(group),
          "attention_mix", "weights [n_heads, rows, keys], mix [n, n_heads * head_dim]", {&weights, &mix});
  require_group("attention_mix", shape, group, mix);
}

void check_softmax(DType activations, const Tensor& x, const Tensor& y) {
  require_activations("softmax", activations, {&x, &y});
  require(same_shape(x, y), "softmax", "x and y of one shape", {&x, &y});
}

void check_convert(const Tensor& x, const Tensor& y) {
  require_layout("convert", {&x, &y});
  require(same_shape(x, y), "convert", "x and y of one shape", {&x, &y});
}

void check_first_non_finite(DType activations, const Tensor& x) {
  require_activations("first_non_finite", activations, {&x});
}

void check_largest(DType activations, const Tensor& logits, int64_t count) {
  require_activations("largest", activations, {&logits});
  require(is_contiguous(logits) && n_elements(logits) == last_dimension(logits) && count >= 0, "largest",
          "one row of logits, a count of 0 or more", {&logits});
}

void check_cross_entropy(DType activations, const Tensor& logits, std::span<const int32_t> targets,
                         std::span<double> losses) {
  require_activations("cross_entropy", activations, {&logits});
  require(
      logits.n_dims == 2 && logits.shape[0] == static_cast<int64_t>(targets.size()) && targets.size() == losses.size(),
      "cross_entropy", "logits [n, vocab], n targets, n losses", {&logits});
  for (const int32_t target : targets) require_index("cross_entropy", target, logits.shape[1], logits);
}

int64_t count_keys(const AttentionGroup& group) {
  int64_t n_keys = 0;
  for (const KeyValueSpan& span : group.spans) n_keys += span.keys.shape[0];
  return n_keys;
}

}  // namespace orrery
