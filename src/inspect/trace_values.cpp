// Tensors of a trace as numbers in one shape and one layout, whoever wrote them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "inspect/probe_names.h"
#include "inspect/trace.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

constexpr double kMasked = -1e30;  // other programs add the most negative number of a type instead of -infinity

bool is_one_of(std::string_view kind, std::initializer_list<std::string_view> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

// How many heads stand side by side in a row; 0 where the tensor has none, or the header does not say.
int heads_of(std::string_view kind, const TraceHeader& header) {
  if (is_one_of(kind, {"attn.q", "attn.q_norm", "attn.q_rope", "attn.mix"})) return header.n_heads;
  if (is_one_of(kind, {"attn.k", "attn.v", "attn.k_norm", "attn.k_rope"})) return header.n_kv_heads;
  return 0;
}

bool turns(std::string_view kind) {
  return is_one_of(kind, {"attn.q", "attn.q_norm", "attn.q_rope", "attn.k", "attn.k_norm", "attn.k_rope"});
}

// [n_heads, n, head_dim] as [n, n_heads * head_dim].
void put_heads_side_by_side(TensorValues& values, int64_t n_heads, int64_t head_dim) {
  const int64_t n = static_cast<int64_t>(values.numbers.size()) / (n_heads * head_dim);
  std::vector<double> result(values.numbers.size());
  for (int64_t h = 0; h < n_heads; ++h) {
    for (int64_t r = 0; r < n; ++r) {
      std::copy_n(&values.numbers[static_cast<size_t>((h * n + r) * head_dim)], head_dim,
                  &result[static_cast<size_t>((r * n_heads + h) * head_dim)]);
    }
  }
  values.numbers = std::move(result);
}

TensorValues brought_to_our_form(std::string_view name, TensorValues values, const TraceHeader& header) {
  std::vector<int64_t>& shape = values.shape;
  const std::string_view kind = split_probe_name(name).kind;
  if (is_one_of(kind, {"attn.scores", "attn.weights"})) {
    while (shape.size() > 3 && shape[0] == 1) shape.erase(shape.begin());
    if (kind == "attn.scores") {
      std::ranges::replace_if(
          values.numbers, [](double x) { return x < kMasked; }, -std::numeric_limits<double>::infinity());
    }
    return values;
  }
  while (shape.size() > 2 && shape[0] == 1) shape.erase(shape.begin());
  const int n_heads = heads_of(kind, header);
  const int64_t row = int64_t{n_heads} * header.head_dim;
  if (shape.size() == 3 && row > 0 && shape[2] == header.head_dim && (shape[0] == n_heads || shape[1] == n_heads)) {
    // [n_heads, n, head_dim], or [n, n_heads, head_dim], which is what norms of heads give.
    const bool has_heads_outside = shape[0] == n_heads && (shape[1] != n_heads || !kind.ends_with("_norm"));
    if (has_heads_outside) put_heads_side_by_side(values, n_heads, header.head_dim);
    shape = {has_heads_outside ? shape[1] : shape[0], row};
  }
  const bool is_interleaved = header.rope_layout == RopeLayout::interleaved && header.rope_dims >= 2 &&
                              header.rope_dims % 2 == 0 && header.rope_dims <= header.head_dim;
  if (is_interleaved && turns(kind) && row > 0 && values.width() == row) {
    split_halves(values, header.head_dim, header.rope_dims);
  }
  return values;
}

// Of [rows, width] or [n_heads, rows, keys].
int64_t rows_of(const TensorValues& values) {
  if (values.shape.size() != 3) return values.n_rows();
  return values.shape[0] == 0 ? 0 : values.n_rows() / values.shape[0];
}

TensorValues values_of_bytes(std::span<const int64_t> shape, DType dtype, const std::byte* bytes) {
  TensorValues values;
  values.shape.assign(shape.begin(), shape.end());
  const int64_t n = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
  values.numbers.resize(static_cast<size_t>(n));
  convert_row(dtype, bytes, DType::F64, reinterpret_cast<std::byte*>(values.numbers.data()), n);
  return values;
}

}  // namespace

void split_halves(TensorValues& values, int head_dim, int rope_dims) {
  std::vector<double> head(static_cast<size_t>(rope_dims));
  for (size_t begin = 0; begin < values.numbers.size(); begin += static_cast<size_t>(head_dim)) {
    for (size_t i = 0; i < head.size(); ++i) head[i / 2 + (i % 2) * (head.size() / 2)] = values.numbers[begin + i];
    std::ranges::copy(head, values.numbers.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

TensorValues trace_values(const TraceTensor& tensor, const TraceHeader& header) {
  return brought_to_our_form(tensor.name, values_of_bytes(tensor.shape, tensor.dtype, tensor.bytes.data()), header);
}

TensorValues trace_values(const Tensor& tensor, const TraceHeader& header) {
  const std::span<const int64_t> shape(tensor.shape, static_cast<size_t>(tensor.n_dims));
  return brought_to_our_form(tensor.name, values_of_bytes(shape, tensor.dtype, tensor.data), header);
}

std::vector<int> row_positions(const TensorValues& values, const TraceHeader& header) {
  const int64_t n = rows_of(values);
  if (std::ssize(header.positions) == n) return header.positions;
  std::vector<int> positions(static_cast<size_t>(n));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

TensorValues select_rows(const TensorValues& values, std::span<const int64_t> rows) {
  const bool has_heads = values.shape.size() == 3;
  const int64_t n_heads = has_heads ? values.shape[0] : 1;
  const int64_t n = rows_of(values);
  TensorValues result;
  result.shape = {std::ssize(rows), values.width()};
  if (has_heads) result.shape.insert(result.shape.begin(), n_heads);
  result.numbers.reserve(static_cast<size_t>(n_heads * std::ssize(rows) * values.width()));
  for (int64_t head = 0; head < n_heads; ++head) {
    for (const int64_t r : rows) {
      const double* row = values.row(head * n + r);
      result.numbers.insert(result.numbers.end(), row, row + values.width());
    }
  }
  return result;
}

std::optional<TensorValues> trace_rows(const Trace& trace, std::string_view name, std::span<const int> positions) {
  const TraceTensor* tensor = trace.find(name);
  if (tensor == nullptr) return std::nullopt;
  const TensorValues values = trace_values(*tensor, trace.header);
  const std::vector<int> there = row_positions(values, trace.header);
  std::vector<int64_t> rows;
  for (const int position : positions) {
    const auto found = std::ranges::find(there, position);
    if (found == there.end()) return std::nullopt;
    rows.push_back(found - there.begin());
  }
  return select_rows(values, rows);
}

}  // namespace orrery
