// Attention of many rows, as in prefill: each piece takes a block of rows and one key-value head, with all query heads
// that read it, and goes through the keys chunk by chunk. It keeps for each query the largest score so far, the sum of
// exp(score - largest) and the sum of exp(score - largest) * value; when a larger score turns up, both sums shrink by
// exp(old - new) (Dao et al., 2022, "FlashAttention"). The matrix of all scores is never in memory.
#include <vector>

#include "kernels/fast/attention_call.h"
#include "kernels/fast/tile_product.h"

namespace orrery {
namespace {

// Queries of a block: rows times heads that read the same keys. More would make the products a little faster, but waste
// more of them on keys that only the last rows of a block see.
constexpr int64_t kBlockQueries = 96;

bool are_finite(FloatRows rows, int64_t n_rows, int64_t n) {
  float sum = 0;  // 0 * x is NaN for NaN and infinity
  for (int64_t r = 0; r < n_rows; ++r) {
    const float* row = rows.data + r * rows.stride;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += 0 * row[i];
  }
  return sum == 0;
}

}  // namespace

struct FastKernels::BlockTask {
  const AttentionGroup* group;
  int64_t kv_head;
  int64_t first_row, n_rows;  // of the group's
};

// One block's state while it goes through the keys. Line i of each array belongs to query first_query + i.
struct FastKernels::Block {
  const AttentionCall& call;
  const BlockTask& task;
  const Loops& loops;
  int64_t first_query, n_queries;
  float* q;        // [n_queries, head_dim], times the scale
  float* scores;   // [n_queries, kAttentionChunk], of the chunk at hand
  float* sums;     // [n_queries, head_dim]
  float* largest;  // [n_queries]
  float* totals;   // [n_queries]
  float* panel;    // [kAttentionChunk, head_dim]: keys or values as floats

  KeyRange visible(int64_t i, int64_t first_key, int64_t n_keys) const {
    return call.visible(*task.group, first_query + i, first_key, n_keys);
  }
  void begin() const;
  void add_chunk(const KeyValueSpan& span, int64_t first_key, int64_t n_keys) const;
  void finish() const;

 private:
  bool weigh_scores(int64_t first_key, int64_t n_keys) const;
  void add_values(FloatRows values, int64_t first_key, int64_t n_keys, bool sees_all) const;
};

void FastKernels::Block::begin() const {
  const int64_t head_dim = call.head_dim();
  for (int64_t i = 0; i < n_queries; ++i) {
    const int64_t query = first_query + i;
    loops.scale(call.at(call.q, *task.group, query), static_cast<float>(call.shape.scale), head_dim, q + i * head_dim);
  }
  std::fill_n(sums, n_queries * head_dim, 0.0f);
  std::fill_n(totals, n_queries, 0.0f);
  std::fill_n(largest, n_queries, -std::numeric_limits<float>::infinity());
}

void FastKernels::Block::add_chunk(const KeyValueSpan& span, int64_t first_key, int64_t n_keys) const {
  const int64_t head_dim = call.head_dim();
  const FloatRows keys = as_floats(loops, head_of(span.keys, task.kv_head, head_dim, 0, n_keys), panel);
  multiply_transposed(loops, {.rows = n_queries, .columns = n_keys, .depth = head_dim}, {q, head_dim}, keys, scores,
                      kAttentionChunk);
  const bool sees_all = weigh_scores(first_key, n_keys);
  const FloatRows values = as_floats(loops, head_of(span.values, task.kv_head, head_dim, 0, n_keys), panel);
  add_values(values, first_key, n_keys, sees_all);
}

// Scores become exp(score - largest), 0 where a row may not see. Returns whether all rows see all these keys.
bool FastKernels::Block::weigh_scores(int64_t first_key, int64_t n_keys) const {
  const int64_t head_dim = call.head_dim();
  bool sees_all = true;
  for (int64_t i = 0; i < n_queries; ++i) {
    float* row = scores + i * kAttentionChunk;
    const KeyRange seen = visible(i, first_key, n_keys);
    std::fill(row, row + seen.begin, 0.0f);
    std::fill(row + seen.end, row + n_keys, 0.0f);
    sees_all = sees_all && seen.size() == n_keys;
    if (seen.size() == 0) continue;

    const float before = largest[i];
    largest[i] = std::max(before, loops.maximum(row + seen.begin, seen.size()));
    const float factor = factor_between(before, largest[i]);
    totals[i] =
        totals[i] * factor + loops.exponentials(row + seen.begin, shift_for(largest[i]), seen.size(), row + seen.begin);
    if (factor != 1) loops.scale(sums + i * head_dim, factor, head_dim, sums + i * head_dim);
  }
  return sees_all;
}

void FastKernels::Block::add_values(FloatRows values, int64_t first_key, int64_t n_keys, bool sees_all) const {
  const int64_t head_dim = call.head_dim();
  if (sees_all || are_finite(values, n_keys, head_dim)) {
    const TileShape shape = {.rows = n_queries, .columns = head_dim, .depth = n_keys};
    multiply_and_add(loops, shape, {scores, kAttentionChunk}, values, sums, head_dim);
    return;
  }
  // A weight of 0 would not keep NaN out of a row that may not see it.
  for (int64_t i = 0; i < n_queries; ++i) {
    const KeyRange seen = visible(i, first_key, n_keys);
    loops.add_weighted_rows(scores + i * kAttentionChunk + seen.begin, values.data + seen.begin * values.stride,
                            values.stride, seen.size(), sums + i * head_dim, head_dim);
  }
}

void FastKernels::Block::finish() const {
  const int64_t head_dim = call.head_dim();
  for (int64_t i = 0; i < n_queries; ++i) {
    const int64_t query = first_query + i;
    loops.scale(sums + i * head_dim, 1 / totals[i], head_dim, call.at(call.mix, *task.group, query));
  }
}

void FastKernels::attend_by_blocks(const AttentionCall& call, Groups groups) {
  std::vector<BlockTask> tasks;
  const int64_t block_rows = std::max<int64_t>(1, kBlockQueries / call.heads_per_kv());
  for (const AttentionGroup* group : groups) {
    // The last rows see the most keys. They come first: a long piece at the end would leave other threads idle.
    const auto n_rows = static_cast<int64_t>(group->positions.size());
    for (int64_t first = (n_rows - 1) / block_rows * block_rows; first >= 0; first -= block_rows) {
      for (int64_t kv_head = 0; kv_head < call.shape.n_kv_heads; ++kv_head) {
        tasks.push_back({group, kv_head, first, std::min(block_rows, n_rows - first)});
      }
    }
  }
  threads_.parallel_for(static_cast<int64_t>(tasks.size()), 1,
                        [&](int64_t i, int64_t) { attend_block(call, tasks[static_cast<size_t>(i)]); });
}

void FastKernels::attend_block(const AttentionCall& call, const BlockTask& task) {
  const std::span<const int> positions = task.group->positions;
  const int64_t head_dim = call.head_dim(), n = task.n_rows * call.heads_per_kv();
  const auto n_group_rows = static_cast<int64_t>(positions.size());
  const auto scratch =
      scratch_.borrow({n * head_dim, n * kAttentionChunk, n * head_dim, n, n, kAttentionChunk * head_dim});
  const Block block = {.call = call,
                       .task = task,
                       .loops = loops_,
                       .first_query = (task.kv_head * n_group_rows + task.first_row) * call.heads_per_kv(),
                       .n_queries = n,
                       .q = scratch[0],
                       .scores = scratch[1],
                       .sums = scratch[2],
                       .largest = scratch[3],
                       .totals = scratch[4],
                       .panel = scratch[5]};
  block.begin();
  const auto rows = positions.subspan(static_cast<size_t>(task.first_row), static_cast<size_t>(task.n_rows));
  const KeyRange seen = seen_keys(call.shape, rows);
  for (int64_t chunk = seen.begin / kAttentionChunk; chunk * kAttentionChunk < seen.end; ++chunk) {
    const KeyValueSpan& span = task.group->spans[static_cast<size_t>(chunk)];
    const int64_t first_key = chunk * kAttentionChunk;
    block.add_chunk(span, first_key, std::min(span.keys.shape[0], seen.end - first_key));
  }
  block.finish();
}

}  // namespace orrery
