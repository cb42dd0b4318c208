// Attention of few rows, as in decoding, where reading keys and values takes the time. Each piece reads one chunk of
// them from end to end, all key-value heads and for all queries, so that every byte is loaded once and in order. It
// leaves, for each query, the largest score m, the sum of exp(score - m), and the sum of exp(score - m) * value. These
// are put together at the end, chunk after chunk.
#include <vector>

#include "kernels/fast/attention_call.h"

namespace orrery {
namespace {

// Elements of keys or values that are worked on at a time, while the next as many are on their way. Together they fit
// into the first-level cache.
constexpr int64_t kStripElements = 3072;
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

int64_t count_chunks(const AttentionGroup& group) {
  if (group.positions.empty()) return 0;
  return *std::max_element(group.positions.begin(), group.positions.end()) / kAttentionChunk + 1;
}

// Asks the memory for lines [first, first + count) of keys or values, as far as there are so many.
void prefetch_lines(const Tensor& lines, int64_t first, int64_t count) {
  constexpr int64_t kCacheLine = 64;
  const StoredRows rows = rows_of(lines, first, std::min(count, lines.shape[0] - first), 0, lines.shape[1]);
  const auto n_bytes = static_cast<int64_t>(bytes_of(lines.dtype, lines.shape[1]));
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    const std::byte* line = rows.data + i * rows.row_bytes;
    for (int64_t byte = 0; byte < n_bytes; byte += kCacheLine) __builtin_prefetch(line + byte);
  }
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
    for (int64_t chunk = 0; chunk < count_chunks(*group); ++chunk) {
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
    if (task.chunk > 0) continue;  // a group's first task stands for it: its partials are followed by the others'
    const int64_t n_queries = call.count_queries(*task.group);
    for (int64_t query = 0; query < n_queries; ++query) {
      combine(task.partials + query * partial_size, n_queries * partial_size, count_chunks(*task.group), head_dim,
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
  float *scaled = scratch[0], *all_scores = scratch[1];
  prefetch_lines(keys, 0, strip_lines);
  for (int64_t query = 0; query < n_queries; ++query) {
    const float* q = call.at(call.q, group, query);
    loops_.scale(q, static_cast<float>(call.shape.scale), head_dim, scaled + query * head_dim);
  }
  for (int64_t first = 0; first < n_keys; first += strip_lines) {
    prefetch_lines(keys, first + strip_lines, strip_lines);
    for (int64_t kv_head = 0; kv_head < n_kv_heads; ++kv_head) {
      const StoredRows head = head_of(keys, kv_head, head_dim, first, std::min(strip_lines, n_keys - first));
      const int64_t query = kv_head * n_per_head;
      dots(loops_, head, {scaled + query * head_dim, head_dim}, n_per_head,
           all_scores + query * kAttentionChunk + first, kAttentionChunk);
    }
  }

  prefetch_lines(values, 0, strip_lines);
  const auto partial_of = [&](int64_t query) {
    return Partial(task.partials + query * Partial::size(head_dim), head_dim);
  };
  for (int64_t query = 0; query < n_queries; ++query) {
    const int64_t n_visible = call.count_visible(group, query, first_key, n_keys);
    float* scores = all_scores + query * kAttentionChunk;
    const Partial partial = partial_of(query);
    partial.largest_score = loops_.maximum(scores, n_visible);
    partial.total = loops_.exponentials(scores, shift_for(partial.largest_score), n_visible, scores);
    std::fill_n(partial.sums, head_dim, 0.0f);
  }
  for (int64_t first = 0; first < n_keys; first += strip_lines) {
    const int64_t count = std::min(strip_lines, n_keys - first);
    prefetch_lines(values, first + strip_lines, strip_lines);
    const FloatRows strip = as_floats(loops_, rows_of(values, first, count, 0, kv_dim), scratch[2]);
    for (int64_t query = 0; query < n_queries; ++query) {
      const float* head = strip.data + query / n_per_head * head_dim;
      loops_.add_weighted_rows(all_scores + query * kAttentionChunk + first, head, strip.stride,
                               call.count_visible(group, query, first_key + first, count), partial_of(query).sums,
                               head_dim);
    }
  }
}

}  // namespace orrery
