#include "compare/cross_attention.h"

#include <string>
#include <vector>

#include "base/error.h"

namespace orrery {
namespace {

// In steps, because somebody wants to see the weights.
void attend_visibly(Pass& pass, const std::string& name, const AttentionShape& shape, const AttentionGroup& group,
                    int64_t n_keys, const Tensor& q, Tensor& mix) {
  const auto n_rows = static_cast<int64_t>(group.positions.size());
  Tensor scores = pass.make(name + ".scores", {shape.n_heads, n_rows, n_keys});
  pass.kernels.attention_scores(shape, group, q, scores);  // [n_heads, n_rows, n_keys]
  Tensor weights = pass.make(name + ".weights", {shape.n_heads, n_rows, n_keys});
  pass.kernels.softmax(scores, weights);  // [n_heads, n_rows, n_keys]
  pass.announce(weights, pass.rows.subspan(static_cast<size_t>(group.first_row), group.positions.size()));
  pass.kernels.attention_mix(shape, group, weights, mix);  // rows of [n, n_heads * head_dim]
}

}  // namespace

void check_not_empty(std::span<const RowRange> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].count == 0) throw Error({.what = "a source has no tokens", .where = "source " + std::to_string(i)});
  }
}

void check_sources(size_t n_sources, std::span<const int> source_of, size_t n_sequences) {
  bool fits = source_of.size() == n_sequences;
  for (const int source : source_of) fits = fits && source >= 0 && static_cast<size_t>(source) < n_sources;
  if (fits) return;
  throw Error({.what = "there is not one of the encoded sources for each target",
               .where = "decoder",
               .expected = std::to_string(n_sequences) + " numbers below " + std::to_string(n_sources),
               .found = std::to_string(source_of.size()) + " numbers"});
}

Tensor attend_to_sources(Pass& pass, std::string_view name, const AttentionShape& shape,
                         std::span<const RowRange> sources, std::span<const int> source_of, const Tensor& q,
                         const Tensor& keys, const Tensor& values) {
  std::vector<std::vector<int>> positions;  // the last key that a row sees is that of the source's last row
  std::vector<std::vector<KeyValueSpan>> spans;
  std::vector<AttentionGroup> groups;
  for (size_t i = 0; i < pass.sequences.size(); ++i) {
    const RowRange& source = sources[static_cast<size_t>(source_of[i])];
    positions.emplace_back(pass.sequences[i].n_rows, static_cast<int>(source.count) - 1);
    spans.push_back(
        spans_of_rows(slice_rows(keys, source.first, source.count), slice_rows(values, source.first, source.count)));
  }
  for (size_t i = 0; i < pass.sequences.size(); ++i) {
    groups.push_back({pass.sequences[i].first_row, positions[i], spans[i]});
  }
  const std::string prefix(name);
  Tensor mix = pass.make(prefix + ".mix", int64_t{shape.n_heads} * shape.head_dim);
  if (pass.is_wanted(prefix + ".weights")) {
    for (size_t i = 0; i < groups.size(); ++i) {
      attend_visibly(pass, prefix, shape, groups[i], sources[static_cast<size_t>(source_of[i])].count, q, mix);
    }
  } else {
    pass.kernels.attention(shape, groups, q, mix);  // [n, n_heads * head_dim]
  }
  pass.announce(mix);
  return mix;
}

}  // namespace orrery
