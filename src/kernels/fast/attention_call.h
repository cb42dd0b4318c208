// What the two kinds of attention share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/fast/fast_kernels.h"
#include "kernels/fast/rows.h"
#include "kernels/fast/stored.h"

namespace orrery {

// Some neighbouring keys of those at hand: [begin, end).
struct KeyRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Which of the keys [first_key, first_key + n_keys) a row of the group sees, counted from first_key.
inline KeyRange visible_of(const AttentionShape& shape, const AttentionGroup& group, int64_t row, int64_t first_key,
                           int64_t n_keys) {
  const int position = group.positions[static_cast<size_t>(row)];
  const int64_t end = std::clamp<int64_t>(position + 1 - first_key, 0, n_keys);
  return {std::clamp<int64_t>(shape.first_key(position) - first_key, 0, end), end};
}

// The keys that some of these rows see.
inline KeyRange seen_keys(const AttentionShape& shape, std::span<const int> positions) {
  const auto [first, last] = std::minmax_element(positions.begin(), positions.end());
  return {shape.first_key(*first), int64_t{*last} + 1};
}

struct FastKernels::AttentionCall {
  const AttentionShape& shape;
  Rows q;
  Rows mix;

  int64_t head_dim() const { return shape.head_dim; }
  int64_t heads_per_kv() const { return shape.n_heads / shape.n_kv_heads; }

  // A query is one head of one row of a group. They are counted so that those that read the same keys follow each
  // other: for each key-value head, for each row, for each query head that reads it.
  int64_t count_queries(const AttentionGroup& group) const {
    return static_cast<int64_t>(group.positions.size()) * shape.n_heads;
  }
  int64_t row_of(const AttentionGroup& group, int64_t query) const {
    return query / heads_per_kv() % static_cast<int64_t>(group.positions.size());
  }
  // Where it stands in q or mix.
  float* at(const Rows& rows, const AttentionGroup& group, int64_t query) const {
    const int64_t kv_head = query / heads_per_kv() / static_cast<int64_t>(group.positions.size());
    const int64_t head = kv_head * heads_per_kv() + query % heads_per_kv();
    return rows[group.first_row + row_of(group, query)] + head * head_dim();
  }
  KeyRange visible(const AttentionGroup& group, int64_t query, int64_t first_key, int64_t n_keys) const {
    return visible_of(shape, group, row_of(group, query), first_key, n_keys);
  }
};

// One head of `count` lines of a span's keys or values, from line `first` on.
inline StoredRows head_of(const Tensor& lines, int64_t kv_head, int64_t head_dim, int64_t first, int64_t count) {
  return rows_of(lines, first, count, kv_head * head_dim, head_dim);
}

// What scores are reduced by before exp: the largest of them. Where all are -infinity nothing is taken away, for the
// difference of two infinities would be NaN, and other chunks may still have something to see.
inline float shift_for(float largest_score) {
  return largest_score == -std::numeric_limits<float>::infinity() ? 0.0f : largest_score;
}

// By what sums of exp(score - before) have to be multiplied to become sums of exp(score - after), after >= before.
// Those of a chunk where all scores were -infinity are 0 (or NaN) and stay so.
inline float factor_between(float before, float after) {
  return before == -std::numeric_limits<float>::infinity() ? 1.0f : std::exp(before - after);
}

}  // namespace orrery
