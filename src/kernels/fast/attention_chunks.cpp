// Attention of few rows, as in decoding, where reading keys and values takes the time. Each piece reads one chunk of
// them from end to end, all key-value heads and for all queries, so that every byte is loaded once and in order. It
// leaves, for each query, the largest score m, the sum of exp(score - m), and the sum of exp(score - m) * value. These
// are put together at the end, chunk after chunk.
#include <vector>

#include "kernels/fast/attention_call.h"

namespace orrery {
namespace {

// Elements of values that are brought into the first-level cache in the order in which they lie in memory, because the
// CPU's prefetchers follow that, and are then added up head by head. It pays even where they need not be widened.
constexpr int64_t kStripElements = 1536;
// A piece should have so many elements of keys and values to read that starting threads pays.
constexpr int64_t kPieceElements = 16384;

// What a chunk leaves for one query: head_dim sums, then two more numbers.
struct Partial {
  Partial(float* data, int64_t head_dim) : sums(data), largest_score(data[head_dim]), total(data[head_dim + 1]) {}
  static int64_t size(int64_t head_dim) { return head_dim + 2; }

  float* sums;
  float& largest_score;
  float& total;
};

// mix[head_dim] = all sums / all totals, each chunk's brought to the largest score of all.
void combine(float* partials, int64_t distance, int64_t n_chunks, int64_t head_dim, float* mix) {
  const auto partial_of = [&](int64_t chunk) { return Partial(partials + chunk * distance, head_dim); };
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t chunk = 0; chunk < n_chunks; ++chunk) largest = std::max(largest, partial_of(chunk).largest_score);

  std::fill_n(mix, head_dim, 0.0f);
  float total = 0;
  for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
    const Partial partial = partial_of(chunk);
    const float factor = factor_between(partial.largest_score, largest);
    total += factor * partial.total;
    for (int64_t i = 0; i < head_dim; ++i) mix[i] += factor * partial.sums[i];
  }
  for (int64_t i = 0; i < head_dim; ++i) mix[i] /= total;
}

// The chunks that a group's rows see.
KeyRange chunks_of(const AttentionShape& shape, const AttentionGroup& group) {
  const KeyRange keys = seen_keys(shape, group.positions);
  return {keys.begin / kAttentionChunk, (keys.end - 1) / kAttentionChunk + 1};
}

}  // namespace

struct FastKernels::ChunkTask {
  const AttentionGroup* group;
  int64_t chunk;
  float* partials;  // of this chunk, for each query
};

void FastKernels::attend_by_chunks(const AttentionCall& call, Groups groups) {
  const int64_t head_dim = call.head_dim(), partial_size = Partial::size(head_dim);
  std::vector<ChunkTask> tasks;
  int64_t n_floats = 0, n_elements = 0;
  for (const AttentionGroup* group : groups) {
    const KeyRange chunks = chunks_of(call.shape, *group);
    for (int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
      tasks.push_back({group, chunk, nullptr});
      n_floats += call.count_queries(*group) * partial_size;
      n_elements += 2 * group->spans[static_cast<size_t>(chunk)].keys.shape[0] * call.shape.n_kv_heads * head_dim;
    }
  }
  if (tasks.empty()) return;

  partials_.resize(std::max(partials_.size(), static_cast<size_t>(n_floats)));
  float* next = partials_.data();
  for (ChunkTask& task : tasks) {
    task.partials = next;
    next += call.count_queries(*task.group) * partial_size;
  }
  const auto n_tasks = static_cast<int64_t>(tasks.size());
  const int64_t grain = std::max<int64_t>(1, kPieceElements * n_tasks / std::max<int64_t>(1, n_elements));
  threads_.parallel_for(n_tasks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) attend_to_chunk(call, tasks[static_cast<size_t>(i)]);
  });

  for (const ChunkTask& task : tasks) {
    const KeyRange chunks = chunks_of(call.shape, *task.group);
    if (task.chunk > chunks.begin) continue;  // a group's first task stands for it: the others' partials follow its own
    const int64_t n_queries = call.count_queries(*task.group);
    for (int64_t query = 0; query < n_queries; ++query) {
      combine(task.partials + query * partial_size, n_queries * partial_size, chunks.size(), head_dim,
              call.at(call.mix, *task.group, query));
    }
  }
}

void FastKernels::attend_to_chunk(const AttentionCall& call, const ChunkTask& task) {
  const AttentionGroup& group = *task.group;
  const auto& [keys, values] = group.spans[static_cast<size_t>(task.chunk)];
  const int64_t head_dim = call.head_dim(), n_kv_heads = call.shape.n_kv_heads, kv_dim = n_kv_heads * head_dim;
  const int64_t n_keys = keys.shape[0], first_key = task.chunk * kAttentionChunk;
  const int64_t n_queries = call.count_queries(group), n_per_head = n_queries / n_kv_heads;
  const int64_t strip_lines = std::max<int64_t>(4, kStripElements / kv_dim / 4 * 4);

  const auto scratch = scratch_.borrow({n_queries * head_dim, n_queries * kAttentionChunk, strip_lines * kv_dim});
  float *scaled = scratch[0], *all_scores = scratch[1], *strip = scratch[2];
  for (int64_t query = 0; query < n_queries; ++query) {
    const float* q = call.at(call.q, group, query);
    loops_.scale(q, static_cast<float>(call.shape.scale), head_dim, scaled + query * head_dim);
  }
  dots(loops_, rows_of(keys, 0, n_keys, 0, kv_dim), {scaled, head_dim}, n_per_head, all_scores, kAttentionChunk,
       n_kv_heads);

  const auto partial_of = [&](int64_t query) {
    return Partial(task.partials + query * Partial::size(head_dim), head_dim);
  };
  for (int64_t query = 0; query < n_queries; ++query) {
    const KeyRange seen = call.visible(group, query, first_key, n_keys);
    float* scores = all_scores + query * kAttentionChunk + seen.begin;
    const Partial partial = partial_of(query);
    partial.largest_score = loops_.maximum(scores, seen.size());
    partial.total = loops_.exponentials(scores, shift_for(partial.largest_score), seen.size(), scores);
    std::fill_n(partial.sums, head_dim, 0.0f);
  }
  for (int64_t first = 0; first < n_keys; first += strip_lines) {
    const int64_t count = std::min(strip_lines, n_keys - first);
    widen(loops_, rows_of(values, first, count, 0, kv_dim), strip);
    for (int64_t query = 0; query < n_queries; ++query) {
      const KeyRange seen = call.visible(group, query, first_key + first, count);
      const float* head_values = strip + query / n_per_head * head_dim;
      loops_.add_weighted_rows(all_scores + query * kAttentionChunk + first + seen.begin,
                               head_values + seen.begin * kv_dim, kv_dim, seen.size(), partial_of(query).sums,
                               head_dim);
    }
  }
}

}  // namespace orrery
