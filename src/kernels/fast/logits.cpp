#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/check_shapes.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/fast/rows.h"

namespace orrery {
namespace {

constexpr int64_t kBlock = 64;
constexpr uint32_t kInfinityBits = 0x7F800000u;

bool is_finite(float value) { return (std::bit_cast<uint32_t>(value) & kInfinityBits) != kInfinityBits; }

// Index of the first NaN or infinity, n if there is none.
int64_t first_non_finite_of(const float* x, int64_t n) {
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    // Without a way out in its middle this is a loop that compilers vectorise.
    int n_found = 0;
    for (int64_t i = first; i < end; ++i) n_found += is_finite(x[i]) ? 0 : 1;
    if (n_found > 0) return std::find_if_not(x + first, x + end, is_finite) - x;
  }
  return n;
}

// A whole number that orders as the values do: -0 equals 0, and NaN comes above all, so that it cannot hide.
int32_t order_key(float value) {
  const auto bits = std::bit_cast<int32_t>(value);
  const int32_t magnitude = bits & INT32_MAX;
  const int32_t key = bits < 0 ? -magnitude : magnitude;
  return magnitude > static_cast<int32_t>(kInfinityBits) ? INT32_MAX : key;
}

// Key and id in one number: the greater comes first, among equal keys that of the lower id.
int64_t rank_of(int32_t key, int64_t id) { return (int64_t{key} << 32) | (UINT32_MAX - id); }
int32_t id_of(int64_t rank) { return static_cast<int32_t>(UINT32_MAX - static_cast<uint32_t>(rank)); }

std::vector<int32_t> largest_key_of_each_block(const float* x, int64_t n) {
  std::vector<int32_t> keys;
  keys.reserve(static_cast<size_t>(n / kBlock + 1));
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    int32_t largest = INT32_MIN;
    for (int64_t i = first; i < end; ++i) largest = std::max(largest, order_key(x[i]));
    keys.push_back(largest);
  }
  return keys;
}

// A key that at least `count` elements reach: the count-th largest of the blocks' largest.
int32_t key_to_reach(std::vector<int32_t> block_keys, int64_t count) {
  if (count > static_cast<int64_t>(block_keys.size())) return INT32_MIN;
  const auto last = block_keys.begin() + (count - 1);
  std::nth_element(block_keys.begin(), last, block_keys.end(), std::greater<>());
  return *last;
}

}  // namespace

int64_t FastKernels::first_non_finite(const Tensor& x) {
  check_first_non_finite(activation_type(), x);
  const Rows rows(x);
  for (int64_t row = 0; row < rows.count; ++row) {
    const int64_t column = first_non_finite_of(rows[row], rows.width);
    if (column < rows.width) return row * rows.width + column;
  }
  return -1;
}

// One pass over all finds the largest of each block; after that only the few blocks count that hold a candidate.
std::vector<Candidate> FastKernels::largest(const Tensor& logits, int64_t count) {
  check_largest(activation_type(), logits, count);
  const float* x = values<float>(logits);
  const int64_t n = n_elements(logits);
  count = std::min(count, n);
  if (count == 0) return {};

  const std::vector<int32_t> block_keys = largest_key_of_each_block(x, n);
  const int32_t least = key_to_reach(block_keys, count);
  std::vector<int64_t> ranks;
  for (int64_t first = 0; first < n; first += kBlock) {
    if (block_keys[static_cast<size_t>(first / kBlock)] < least) continue;
    for (int64_t i = first; i < std::min(n, first + kBlock); ++i) {
      const int32_t key = order_key(x[i]);
      if (key >= least) ranks.push_back(rank_of(key, i));
    }
  }
  std::partial_sort(ranks.begin(), ranks.begin() + count, ranks.end(), std::greater<>());

  std::vector<Candidate> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i) result[i] = {id_of(ranks[i]), x[id_of(ranks[i])]};
  return result;
}

void FastKernels::cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) {
  check_cross_entropy(activation_type(), logits, targets, losses);
  const Rows rows(logits);
  for_each_row(threads_, rows, [&](int64_t row) {
    const float largest = loops_.maximum(rows[row], rows.width);
    const double sum = loops_.exponential_sum(rows[row], largest, rows.width);
    const float target = rows[row][targets[static_cast<size_t>(row)]];
    losses[static_cast<size_t>(row)] = std::log(sum) + (double{largest} - double{target});
  });
}

}  // namespace orrery
