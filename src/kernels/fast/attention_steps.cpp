// Attention in three steps, for those who want to see scores and weights. It need not be as fast as the fused kind.
#include <vector>

#include "kernels/check_shapes.h"
#include "kernels/fast/attention_call.h"

namespace orrery {
namespace {

// Rows of one head that a piece works on.
constexpr int64_t kPieceRows = 16;

struct Piece {
  int64_t head, first_row, end_row;
};

template <class Body>
void for_each_piece(const Threads& threads, int64_t n_heads, int64_t n_rows, const Body& body) {
  const int64_t pieces_per_head = (n_rows + kPieceRows - 1) / kPieceRows;
  threads.parallel_for(n_heads * pieces_per_head, 1, [&](int64_t i, int64_t) {
    const int64_t first_row = i % pieces_per_head * kPieceRows;
    body(Piece{i / pieces_per_head, first_row, std::min(n_rows, first_row + kPieceRows)});
  });
}

// Calls body(span, index of its first key) for all spans.
template <class Body>
void for_each_span(const AttentionGroup& group, const Body& body) {
  int64_t first_key = 0;
  for (const KeyValueSpan& span : group.spans) {
    body(span, first_key);
    first_key += span.keys.shape[0];
  }
}

}  // namespace

void FastKernels::attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                                   Tensor& scores) {
  check_attention_scores(activation_type(), shape, group, q, scores);
  const Rows queries(q), out(scores);
  const int64_t n_rows = scores.shape[1], head_dim = shape.head_dim;
  const int64_t heads_per_kv = shape.n_heads / shape.n_kv_heads;
  for_each_piece(threads_, shape.n_heads, n_rows, [&](const Piece& piece) {
    const int64_t n_piece_rows = piece.end_row - piece.first_row;
    const auto scratch = scratch_.borrow({n_piece_rows * head_dim});
    for (int64_t i = 0; i < n_piece_rows; ++i) {
      const float* query = queries[group.first_row + piece.first_row + i] + piece.head * head_dim;
      loops_.scale(query, static_cast<float>(shape.scale), head_dim, scratch[0] + i * head_dim);
    }
    for_each_span(group, [&](const KeyValueSpan& span, int64_t first_key) {
      const int64_t n_keys = span.keys.shape[0];
      const StoredRows keys = head_of(span.keys, piece.head / heads_per_kv, head_dim, 0, n_keys);
      float* target = out[piece.head * n_rows + piece.first_row] + first_key;
      dots(loops_, keys, {scratch[0], head_dim}, n_piece_rows, target, out.stride);
      for (int64_t i = 0; i < n_piece_rows; ++i) {
        const KeyRange seen = visible_of(shape, group, piece.first_row + i, first_key, n_keys);
        float* row = target + i * out.stride;
        std::fill(row, row + seen.begin, -std::numeric_limits<float>::infinity());
        std::fill(row + seen.end, row + n_keys, -std::numeric_limits<float>::infinity());
      }
    });
  });
}

void FastKernels::softmax(const Tensor& x, Tensor& y) {
  check_softmax(activation_type(), x, y);
  const Rows in(x), out(y);
  for_each_row(threads_, out, [&](int64_t row) {
    const float largest = loops_.maximum(in[row], in.width);
    const float sum = loops_.exponentials(in[row], largest, in.width, out[row]);
    loops_.scale(out[row], 1 / sum, in.width, out[row]);
  });
}

void FastKernels::attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                                Tensor& mix) {
  check_attention_mix(activation_type(), shape, group, weights, mix);
  const Rows in(weights), out(mix);
  const int64_t n_rows = weights.shape[1], head_dim = shape.head_dim;
  const int64_t heads_per_kv = shape.n_heads / shape.n_kv_heads;
  for_each_piece(threads_, shape.n_heads, n_rows, [&](const Piece& piece) {
    const auto scratch = scratch_.borrow({kAttentionChunk * head_dim});
    const auto target = [&](int64_t row) { return out[group.first_row + row] + piece.head * head_dim; };
    for (int64_t row = piece.first_row; row < piece.end_row; ++row) std::fill_n(target(row), head_dim, 0.0f);
    for_each_span(group, [&](const KeyValueSpan& span, int64_t first_key) {
      const int64_t n_keys = span.values.shape[0];
      const StoredRows head = head_of(span.values, piece.head / heads_per_kv, head_dim, 0, n_keys);
      const FloatRows values = as_floats(loops_, head, scratch[0]);
      for (int64_t row = piece.first_row; row < piece.end_row; ++row) {
        const KeyRange seen = visible_of(shape, group, row, first_key, n_keys);
        loops_.add_weighted_rows(in[piece.head * n_rows + row] + first_key + seen.begin,
                                 values.data + seen.begin * values.stride, values.stride, seen.size(), target(row),
                                 head_dim);
      }
    });
  });
}

}  // namespace orrery
