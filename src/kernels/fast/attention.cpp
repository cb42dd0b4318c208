#include <vector>

#include "kernels/check_shapes.h"
#include "kernels/fast/attention_call.h"

namespace orrery {
namespace {

// From so many rows on, a group's attention is a product of matrices rather than of vectors.
constexpr size_t kBlockRows = 8;

}  // namespace

void FastKernels::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                            Tensor& mix) {
  check_attention(activation_type(), shape, groups, q, mix);
  std::vector<const AttentionGroup*> few_rows, many_rows;
  for (const AttentionGroup& group : groups) {
    if (group.positions.empty()) continue;
    const bool by_chunks = group.positions.size() < kBlockRows && has_dots(group.spans[0].keys.dtype);
    (by_chunks ? few_rows : many_rows).push_back(&group);
  }
  const AttentionCall call = {shape, Rows(q), Rows(mix)};
  attend_by_chunks(call, few_rows);
  attend_by_blocks(call, many_rows);
}

}  // namespace orrery
