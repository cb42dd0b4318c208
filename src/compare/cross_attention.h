// The rows of a target look at all rows of its source, by products of queries and keys.
#pragma once

#include <span>
#include <string_view>

#include "kernels/recurrent.h"
#include "model/pass.h"

namespace orrery {

// Returns [n, n_heads * head_dim], "NAME.mix". `source_of` is the source of each of the pass's sequences, `sources` the
// rows of each source in keys and values. Announces "NAME.weights" [n_heads, rows, source rows] for each target, where
// somebody wants it.
Tensor attend_to_sources(Pass& pass, std::string_view name, const AttentionShape& shape,
                         std::span<const RowRange> sources, std::span<const int> source_of, const Tensor& q,
                         const Tensor& keys, const Tensor& values);

// Throws Error for a source without rows.
void check_not_empty(std::span<const RowRange> sources);
// Throws Error unless there is a source, one of those encoded, for each sequence.
void check_sources(size_t n_sources, std::span<const int> source_of, size_t n_sequences);

}  // namespace orrery
