#include "inspect/planted_bugs.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "generate/generate.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

constexpr std::array kOrder = {PlantedBug::transposed,    PlantedBug::epsilon,     PlantedBug::missing_mask,
                               PlantedBug::head_mapping,  PlantedBug::missing_bos, PlantedBug::rope_layout,
                               PlantedBug::missing_scale, PlantedBug::stale_cache};
static_assert(kOrder.size() == kPlantedBugs);

constexpr double kWrongEpsilon = 1e-3;
constexpr int kStaleTokens = 3;

// A tensor and the memory that it lies in.
struct OwnedTensor {
  std::vector<std::byte> bytes;
  Tensor tensor;

  OwnedTensor(DType dtype, std::initializer_list<int64_t> shape) {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    bytes.resize(bytes_of(dtype, n));
    tensor = make_tensor("", dtype, shape, bytes.data());
  }
};

OwnedTensor transposed(const Tensor& w) {
  const int64_t n = w.shape[0];
  std::vector<float> row(static_cast<size_t>(n));
  OwnedTensor result(DType::F32, {n, n});
  for (int64_t i = 0; i < n; ++i) {
    convert_row(w.dtype, row_data(w, i), DType::F32, reinterpret_cast<std::byte*>(row.data()), n);
    for (int64_t j = 0; j < n; ++j) values<float>(result.tensor)[j * n + i] = row[static_cast<size_t>(j)];
  }
  return result;
}

// Every row stands where the last one does, and so sees what that one sees.
std::vector<int> all_as_last(std::span<const int> positions) {
  return std::vector<int>(positions.size(), positions.empty() ? 0 : positions.back());
}

// Which query head stands at each place, so that kernels that let neighbours share keys and values give head h those
// of h % n_kv_heads.
std::vector<int64_t> heads_by_remainder(const AttentionShape& shape) {
  std::vector<int64_t> order;
  for (int64_t remainder = 0; remainder < shape.n_kv_heads; ++remainder) {
    for (int64_t head = remainder; head < shape.n_heads; head += shape.n_kv_heads) order.push_back(head);
  }
  return order;
}

// Blocks of [n_outer, order.size(), bytes]: place i gets what stood at order[i], or, back, the other way round.
void reorder(const std::byte* from, std::byte* to, int64_t n_outer, std::span<const int64_t> order, size_t bytes,
             bool back) {
  const size_t n = order.size();
  for (size_t outer = 0; outer < static_cast<size_t>(n_outer) * n; outer += n) {
    for (size_t i = 0; i < n; ++i) {
      const auto head = static_cast<size_t>(order[i]);
      std::memcpy(to + (outer + (back ? head : i)) * bytes, from + (outer + (back ? i : head)) * bytes, bytes);
    }
  }
}

void reorder_heads(const Tensor& from, Tensor& to, const AttentionShape& shape, bool back) {
  const size_t bytes = bytes_of(from.dtype, shape.head_dim);
  reorder(from.data, to.data, from.shape[0], heads_by_remainder(shape), bytes, back);
}

// Heads outermost: [n_heads, n, keys].
void reorder_maps(const Tensor& from, Tensor& to, const AttentionShape& shape, bool back) {
  const size_t bytes = bytes_of(from.dtype, from.shape[1] * from.shape[2]);
  reorder(from.data, to.data, 1, heads_by_remainder(shape), bytes, back);
}

}  // namespace

PlantedBug planted_bug(int number) {
  if (number >= 1 && number <= kPlantedBugs) return kOrder[static_cast<size_t>(number - 1)];
  throw Error({.what = "there is no such planted bug",
               .where = "--plant",
               .expected = "1 to " + std::to_string(kPlantedBugs),
               .found = std::to_string(number)});
}

void check_planted_bug(PlantedBug bug, const ModelConfig& config) {
  const bool shares_heads = config.n_kv_heads > 1 && config.n_kv_heads < config.n_heads;
  const bool would_show = (bug != PlantedBug::rope_layout || config.positions == Positions::rope) &&
                          (bug != PlantedBug::head_mapping || shares_heads) &&
                          (bug != PlantedBug::transposed || config.q_dim() == config.d_model);
  if (would_show) return;
  throw Error({.what = "this bug would change nothing in this model",
               .where = "--plant",
               .hint = "tests/data/tiny-models/gguf/valid_base.gguf is a model in which each of them shows"});
}

void PlantedKernels::matmul(const Tensor& x, const Tensor& w, Tensor& y) {
  if (bug_ != PlantedBug::transposed || !std::string_view(w.name).ends_with("attn_output.weight")) {
    return DecoratedKernels::matmul(x, w, y);
  }
  DecoratedKernels::matmul(x, transposed(w).tensor, y);
}

void PlantedKernels::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) {
  DecoratedKernels::rms_norm(x, gain, bug_ == PlantedBug::epsilon ? kWrongEpsilon : epsilon, y);
}

void PlantedKernels::layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) {
  DecoratedKernels::layer_norm(x, gain, bias, bug_ == PlantedBug::epsilon ? kWrongEpsilon : epsilon, y);
}

void PlantedKernels::rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                          Tensor& y) {
  const RopeLayout other = layout == RopeLayout::interleaved ? RopeLayout::half_split : RopeLayout::interleaved;
  DecoratedKernels::rope(x, cosine, sine, bug_ == PlantedBug::rope_layout ? other : layout, head_dim, y);
}

void PlantedKernels::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                               Tensor& mix) {
  AttentionShape planted = shape;
  std::vector<AttentionGroup> planted_groups(groups.begin(), groups.end());
  std::vector<std::vector<int>> positions;
  if (bug_ == PlantedBug::missing_scale) planted.scale = 1;
  if (bug_ == PlantedBug::missing_mask) {
    planted.window = 0;
    for (const AttentionGroup& group : groups) positions.push_back(all_as_last(group.positions));
    for (size_t i = 0; i < groups.size(); ++i) planted_groups[i].positions = positions[i];
  }
  if (bug_ != PlantedBug::head_mapping) return DecoratedKernels::attention(planted, planted_groups, q, mix);
  OwnedTensor q_reordered(q.dtype, {q.shape[0], q.shape[1]}), mix_reordered(mix.dtype, {mix.shape[0], mix.shape[1]});
  reorder_heads(q, q_reordered.tensor, shape, false);
  DecoratedKernels::attention(shape, groups, q_reordered.tensor, mix_reordered.tensor);
  reorder_heads(mix_reordered.tensor, mix, shape, true);
}

void PlantedKernels::attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                                      Tensor& scores) {
  AttentionShape planted = shape;
  AttentionGroup planted_group = group;
  std::vector<int> positions;
  if (bug_ == PlantedBug::missing_scale) planted.scale = 1;
  if (bug_ == PlantedBug::missing_mask) {
    planted.window = 0;
    planted_group.positions = positions = all_as_last(group.positions);
  }
  if (bug_ != PlantedBug::head_mapping) return DecoratedKernels::attention_scores(planted, planted_group, q, scores);
  OwnedTensor q_reordered(q.dtype, {q.shape[0], q.shape[1]});
  OwnedTensor scores_reordered(scores.dtype, {scores.shape[0], scores.shape[1], scores.shape[2]});
  reorder_heads(q, q_reordered.tensor, shape, false);
  DecoratedKernels::attention_scores(shape, group, q_reordered.tensor, scores_reordered.tensor);
  reorder_maps(scores_reordered.tensor, scores, shape, true);
}

void PlantedKernels::attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                                   Tensor& mix) {
  if (bug_ == PlantedBug::missing_mask) {
    AttentionShape planted = shape;
    AttentionGroup planted_group = group;
    const std::vector<int> positions = all_as_last(group.positions);
    planted.window = 0;
    planted_group.positions = positions;
    return DecoratedKernels::attention_mix(planted, planted_group, weights, mix);
  }
  if (bug_ != PlantedBug::head_mapping) return DecoratedKernels::attention_mix(shape, group, weights, mix);
  OwnedTensor weights_reordered(weights.dtype, {weights.shape[0], weights.shape[1], weights.shape[2]});
  OwnedTensor mix_reordered(mix.dtype, {mix.shape[0], mix.shape[1]});
  reorder_maps(weights, weights_reordered.tensor, shape, false);
  DecoratedKernels::attention_mix(shape, group, weights_reordered.tensor, mix_reordered.tensor);
  Tensor rows = slice_rows(mix, group.first_row, static_cast<int64_t>(group.positions.size()));
  reorder_heads(slice_rows(mix_reordered.tensor, group.first_row, rows.shape[0]), rows, shape, true);
}

std::vector<TokenId> planted_prompt(PlantedBug bug, std::vector<TokenId> prompt, TokenId bos) {
  if (bug != PlantedBug::missing_bos) return prompt;
  if (prompt.size() < 2 || bos == kNoToken || prompt.front() != bos) {
    throw Error({.what = "this bug would change nothing in this prompt",
                 .where = "--plant",
                 .hint = "give a longer one, with the token that begins a text"});
  }
  prompt.erase(prompt.begin());
  return prompt;
}

std::unique_ptr<SequenceState> planted_sequence(PlantedBug bug, LanguageModel& model, Kernels& kernels) {
  auto state = model.new_sequence();
  if (bug != PlantedBug::stale_cache) return state;
  std::vector<TokenId> other_text;
  for (int i = 0; i < kStaleTokens; ++i) other_text.push_back(model.config().vocab_size - 1 - i);
  Arena arena;
  prefill(model, *state, other_text, kernels, arena);
  return state;
}

}  // namespace orrery
