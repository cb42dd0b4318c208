// The way back through attention. A piece of work is one key-value head of one sequence: nobody else adds to the
// gradients of its keys and values, so threads need not wait for each other and sums have one order. It goes through
// the queries in blocks, and computes all scores of a block again: with p = softmax(s), s = q * k (q scaled)
//
//   dv = p^T * dmix;  dp = dmix * v^T;  ds = p * (dp - sum of p * dp);  dk = ds^T * q;  dq = scale * ds * k
//
// where the sum of p * dp over the keys equals mix * dmix (Dao et al., 2022, "FlashAttention", appendix B).
#include <vector>

#include "kernels/backward_checks.h"
#include "kernels/check_shapes.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/backward_product.h"
#include "kernels/fast/rows.h"

namespace orrery {
namespace {

// Queries of a block: rows times heads that read the same keys. More would make the products a little faster, but waste
// more of them on keys that only the last rows of a block see.
constexpr int64_t kBlockQueries = 64;

}  // namespace

struct FastBackward::AttentionCall {
  const AttentionShape& shape;
  Rows q, mix, dmix, dq;

  int64_t head_dim() const { return shape.head_dim; }
  int64_t heads_per_kv() const { return shape.n_heads / shape.n_kv_heads; }
};

struct FastBackward::Head {
  const AttentionGroup& group;
  const AttentionGroup& dgroup;
  int64_t kv_head;
};

// Line i of each array belongs to query first_query + i of the head. A query is one row and one of the heads that read
// the same keys; queries of a row follow each other.
struct FastBackward::Block {
  FastBackward& kernels;
  const AttentionCall& call;
  const Head& head;
  int64_t first_query, n_queries;
  int64_t n_keys;      // up to the last that these queries see; score lines are as long
  int64_t first_seen;  // key: what stands before its chunk in the lines was not computed
  float* q;            // [n_queries, head_dim], times the scale
  float* dmix;         // [n_queries, head_dim]
  float* dq;           // [n_queries, head_dim]
  float* p;            // [n_queries, n_keys]: scores, then their softmax
  float* dp;           // [n_queries, n_keys]: gradients of p, then of the scores

  void go_back() const {
    gather();
    for_each_chunk([&](const KeyValueSpan& span, const KeyValueSpan&, int64_t first_key, int64_t count) {
      multiply_transposed(kernels.loops_, {n_queries, count, call.head_dim()}, {q, call.head_dim()}, part_of(span.keys),
                          p + first_key, n_keys);
      multiply_transposed(kernels.loops_, {n_queries, count, call.head_dim()}, {dmix, call.head_dim()},
                          part_of(span.values), dp + first_key, n_keys);
    });
    through_softmax();
    for_each_chunk([&](const KeyValueSpan& span, const KeyValueSpan& dspan, int64_t first_key, int64_t count) {
      const TileShape onto_keys = {.rows = count, .columns = call.head_dim(), .depth = n_queries};
      multiply_first_transposed_and_add(kernels.loops_, kernels.scratch_, onto_keys, {p + first_key, n_keys},
                                        {dmix, call.head_dim()}, begin_of(dspan.values), dspan.values.stride[0]);
      multiply_first_transposed_and_add(kernels.loops_, kernels.scratch_, onto_keys, {dp + first_key, n_keys},
                                        {q, call.head_dim()}, begin_of(dspan.keys), dspan.keys.stride[0]);
      multiply_and_add(kernels.loops_, {n_queries, call.head_dim(), count}, {dp + first_key, n_keys},
                       part_of(span.keys), dq, call.head_dim());
    });
    scatter();
  }

 private:
  int64_t row_of(int64_t i) const { return head.group.first_row + (first_query + i) / call.heads_per_kv(); }
  int64_t column_of(int64_t i) const {
    return (head.kv_head * call.heads_per_kv() + (first_query + i) % call.heads_per_kv()) * call.head_dim();
  }
  int position_of(int64_t i) const {
    return head.group.positions[static_cast<size_t>((first_query + i) / call.heads_per_kv())];
  }
  float* begin_of(const Tensor& lines) const { return values<float>(lines) + head.kv_head * call.head_dim(); }
  FloatRows part_of(const Tensor& lines) const { return {begin_of(lines), lines.stride[0]}; }

  template <class Body>
  void for_each_chunk(const Body& body) const {
    for (int64_t first = first_seen / kAttentionChunk * kAttentionChunk; first < n_keys; first += kAttentionChunk) {
      const auto chunk = static_cast<size_t>(first / kAttentionChunk);
      body(head.group.spans[chunk], head.dgroup.spans[chunk], first,
           std::min<int64_t>(kAttentionChunk, n_keys - first));
    }
  }

  void gather() const {
    const int64_t head_dim = call.head_dim();
    for (int64_t i = 0; i < n_queries; ++i) {
      kernels.loops_.scale(call.q[row_of(i)] + column_of(i), static_cast<float>(call.shape.scale), head_dim,
                           q + i * head_dim);
      std::copy_n(call.dmix[row_of(i)] + column_of(i), head_dim, dmix + i * head_dim);
    }
    std::fill_n(dq, n_queries * head_dim, 0.0f);
  }

  // p: scores to probabilities, dp: gradients of probabilities to those of scores; 0 where a row may not see.
  void through_softmax() const {
    const Loops& loops = kernels.loops_;
    for (int64_t i = 0; i < n_queries; ++i) {
      float *weights = p + i * n_keys, *slopes = dp + i * n_keys;
      const int64_t first = call.shape.first_key(position_of(i)), end = position_of(i) + 1, n = end - first;
      float *seen = weights + first, *seen_slopes = slopes + first;
      const float total = loops.exponentials(seen, loops.maximum(seen, n), n, seen);
      loops.scale(seen, 1 / total, n, seen);
      const float mean =
          kernels.back_.dot(call.mix[row_of(i)] + column_of(i), dmix + i * call.head_dim(), call.head_dim());
      kernels.back_.softmax(seen, mean, n, seen_slopes);
      for (float* line : {weights, slopes}) {
        std::fill(line, line + first, 0.0f);
        std::fill(line + end, line + n_keys, 0.0f);
      }
    }
  }

  void scatter() const {
    for (int64_t i = 0; i < n_queries; ++i) {
      kernels.back_.add_scaled(dq + i * call.head_dim(), static_cast<float>(call.shape.scale), call.head_dim(),
                               call.dq[row_of(i)] + column_of(i));
    }
  }
};

void FastBackward::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                             const Tensor& mix, const Tensor& dmix, Tensor& dq,
                             std::span<const AttentionGroup> dgroups) {
  check_attention(activation_type(), shape, groups, q, mix);
  check_gradient("attention", activation_type(), q, dq);
  check_gradient("attention", activation_type(), mix, dmix);
  check_group_gradients(activation_type(), groups, dgroups);
  const AttentionCall call = {shape, Rows(q), Rows(mix), Rows(dmix), Rows(dq)};
  threads_.parallel_for(static_cast<int64_t>(groups.size()) * shape.n_kv_heads, 1, [&](int64_t piece, int64_t) {
    const auto g = static_cast<size_t>(piece / shape.n_kv_heads);
    attend_head(call, {groups[g], dgroups[g], piece % shape.n_kv_heads});
  });
}

void FastBackward::attend_head(const AttentionCall& call, const Head& head) {
  const std::vector<int> positions(head.group.positions.begin(), head.group.positions.end());
  const int64_t head_dim = call.head_dim(), n_rows = static_cast<int64_t>(positions.size());
  const int64_t block_rows = std::max<int64_t>(1, kBlockQueries / call.heads_per_kv());
  for (int64_t row = 0; row < n_rows; row += block_rows) {
    const int64_t count = std::min(block_rows, n_rows - row), n = count * call.heads_per_kv();
    const auto [first, last] = std::minmax_element(positions.begin() + row, positions.begin() + row + count);
    const int64_t n_keys = *last + 1;
    const auto scratch = scratch_.borrow({n * head_dim, n * head_dim, n * head_dim, n * n_keys, n * n_keys});
    Block{*this,
          call,
          head,
          row * call.heads_per_kv(),
          n,
          n_keys,
          call.shape.first_key(*first),
          scratch[0],
          scratch[1],
          scratch[2],
          scratch[3],
          scratch[4]}
        .go_back();
  }
}

}  // namespace orrery
