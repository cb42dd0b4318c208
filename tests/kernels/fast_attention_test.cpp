#include "kernels/fast_support.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// One sequence: all its keys and values, and the rows that look at them.
struct Sequence {
  Numbers keys, values;
  std::vector<KeyValueSpan> spans;
  std::vector<int> positions;

  Sequence(Random& random, DType dtype, int64_t n_keys, int64_t kv_dim, std::vector<int> rows)
      : keys(Numbers::random(random, dtype, {n_keys, kv_dim}, "keys")),
        values(Numbers::random(random, dtype, {n_keys, kv_dim}, "values")),
        positions(std::move(rows)) {
    cut();
  }
  Sequence(const Sequence& other, DType dtype)
      : keys(other.keys.as(dtype)), values(other.values.as(dtype)), positions(other.positions) {
    cut();
  }

 private:
  void cut() {
    const int64_t n_keys = keys.tensor.shape[0];
    for (int64_t first = 0; first < n_keys; first += kAttentionChunk) {
      const int64_t count = std::min<int64_t>(kAttentionChunk, n_keys - first);
      spans.push_back({slice_rows(keys.tensor, first, count), slice_rows(values.tensor, first, count)});
    }
  }
};

std::vector<AttentionGroup> groups_of(const std::vector<Sequence>& sequences) {
  std::vector<AttentionGroup> groups;
  int row = 0;
  for (const Sequence& sequence : sequences) {
    groups.push_back({row, sequence.positions, sequence.spans});
    row += static_cast<int>(sequence.positions.size());
  }
  return groups;
}

std::vector<int> last_rows(int n_keys, int n_rows) {
  std::vector<int> rows;
  for (int i = n_keys - n_rows; i < n_keys; ++i) rows.push_back(i);
  return rows;
}

AttentionShape shape_of(int n_heads, int n_kv_heads, int head_dim) {
  return {n_heads, n_kv_heads, head_dim, 1 / std::sqrt(static_cast<double>(head_dim))};
}

// Fused and in steps, against the reference in double.
void check_attention(InstructionSet set, const AttentionShape& shape, const std::vector<Sequence>& sequences,
                     const Numbers& q) {
  const std::vector<AttentionGroup> groups = groups_of(sequences);
  std::vector<Sequence> wide;
  for (const Sequence& sequence : sequences) wide.emplace_back(sequence, DType::F64);
  const std::vector<AttentionGroup> wide_groups = groups_of(wide);
  const std::vector<int64_t> size = {q.tensor.shape[0], q.tensor.shape[1]};
  Numbers expected(DType::F64, size), fused(DType::F32, size), stepped(DType::F32, size);
  ReferenceKernels<double>{Threads(1)}.attention(shape, wide_groups, q.as(DType::F64).tensor, expected.tensor);

  FastKernels kernels{Threads(2), set};
  fused.fill(kNaN);
  stepped.fill(kNaN);
  kernels.attention(shape, groups, q.tensor, fused.tensor);
  for (const AttentionGroup& group : groups) {
    int64_t n_keys = 0;
    for (const KeyValueSpan& span : group.spans) n_keys += span.keys.shape[0];
    const std::vector<int64_t> cube = {shape.n_heads, static_cast<int64_t>(group.positions.size()), n_keys};
    Numbers scores(DType::F32, cube), weights(DType::F32, cube);
    kernels.attention_scores(shape, group, q.tensor, scores.tensor);
    kernels.softmax(scores.tensor, weights.tensor);
    kernels.attention_mix(shape, group, weights.tensor, stepped.tensor);
  }
  CAPTURE(name_of(set));
  CAPTURE(shape.n_heads);
  CAPTURE(shape.n_kv_heads);
  CAPTURE(shape.head_dim);
  CAPTURE(info(sequences[0].keys.tensor.dtype).name);
  check_close(fused.doubles(), expected.doubles(), 0, 1e-5);
  check_close(stepped.doubles(), expected.doubles(), 0, 1e-5);
}

}  // namespace

TEST_CASE("fast attention: every number of rows, keys and head size from 1 to 70") {
  Random random(1);
  const int heads[][2] = {{1, 1}, {3, 3}, {4, 2}, {6, 2}, {7, 1}, {9, 3}};
  const DType types[] = {DType::F32, DType::F16, DType::BF16};
  for (const InstructionSet set : instruction_sets()) {
    for (int size = 1; size <= 70; ++size) {
      const auto& [n_heads, n_kv_heads] = heads[size % 6];
      const int n_rows = 1 + size % 20, head_dim = 1 + static_cast<int>(random.below(70));
      const DType dtype = types[random.below(3)];
      const AttentionShape shapes[] = {shape_of(n_heads, n_kv_heads, head_dim), shape_of(n_heads, n_kv_heads, size)};
      for (const AttentionShape& shape : shapes) {
        const int64_t kv_dim = shape.n_kv_heads * shape.head_dim, q_dim = shape.n_heads * shape.head_dim;
        std::vector<Sequence> sequences;
        sequences.emplace_back(random, dtype, size, kv_dim, last_rows(size, std::min(size, n_rows)));
        const Numbers q = Numbers::random(random, DType::F32, {std::min(size, n_rows), q_dim});
        check_attention(set, shape, sequences, q);
      }
    }
  }
}

TEST_CASE("fast attention: several chunks, several sequences in one call, few rows and many") {
  Random random(2);
  for (const InstructionSet set : instruction_sets()) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
      const AttentionShape shape = shape_of(6, 2, 32);
      std::vector<Sequence> sequences;
      sequences.emplace_back(random, dtype, 300, 64, last_rows(300, 1));
      sequences.emplace_back(random, dtype, 128, 64, last_rows(128, 128));
      sequences.emplace_back(random, dtype, 257, 64, last_rows(257, 200));
      sequences.emplace_back(random, dtype, 1, 64, last_rows(1, 1));
      sequences.emplace_back(random, dtype, 140, 64, last_rows(140, 5));
      // Rows may stand at any position, and leave keys unseen.
      sequences.emplace_back(random, dtype, 400, 64, std::vector<int>{5, 130, 2});
      sequences.emplace_back(random, dtype, 400, 64, std::vector<int>{5, 130, 2, 255, 256, 0, 128, 127, 300});
      const Numbers q = Numbers::random(random, DType::F32, {347, 192});
      check_attention(set, shape, sequences, q);
      const std::vector<AttentionGroup> groups = groups_of(sequences);
      check_threads(set, {347, 192}, [&](FastKernels& k, Tensor& y) { k.attention(shape, groups, q.tensor, y); });
      const std::vector<int64_t> cube = {6, 200, 257};
      check_threads(set, cube, [&](FastKernels& k, Tensor& y) { k.attention_scores(shape, groups[2], q.tensor, y); });
      const Numbers weights = Numbers::random(random, DType::F32, cube);
      check_threads(set, {347, 192}, [&](FastKernels& k, Tensor& y) {
        std::fill_n(values<float>(y), 347 * 192, 0.0f);
        k.attention_mix(shape, groups[2], weights.tensor, y);
      });
    }
  }
}

TEST_CASE("fast attention: windows that begin anywhere in a chunk") {
  Random random(6);
  for (const InstructionSet set : instruction_sets()) {
    for (const int window : {1, 2, 60, 127, 128, 129, 200, 400}) {
      CAPTURE(window);
      AttentionShape shape = shape_of(6, 2, 32);
      shape.window = window;
      std::vector<Sequence> sequences;
      sequences.emplace_back(random, DType::F16, 300, 64, last_rows(300, 1));
      sequences.emplace_back(random, DType::F16, 257, 64, last_rows(257, 200));
      sequences.emplace_back(random, DType::F16, 390, 64, last_rows(390, 6));
      sequences.emplace_back(random, DType::F16, 400, 64, std::vector<int>{5, 130, 2});
      sequences.emplace_back(random, DType::F16, 400, 64, std::vector<int>{5, 130, 2, 255, 256, 0, 128, 127, 300});
      const Numbers q = Numbers::random(random, DType::F32, {219, 192});
      check_attention(set, shape, sequences, q);
      const std::vector<AttentionGroup> groups = groups_of(sequences);
      check_threads(set, {219, 192}, [&](FastKernels& k, Tensor& y) { k.attention(shape, groups, q.tensor, y); });
    }
  }
}

TEST_CASE("fast attention: what stands before the window has no part in the sum, not even as NaN") {
  Random random(7);
  AttentionShape shape = shape_of(4, 2, 16);
  shape.window = 50;
  for (const InstructionSet set : instruction_sets()) {
    for (const int n_rows : {3, 150}) {
      std::vector<Sequence> sequences;
      sequences.emplace_back(random, DType::F32, 200, 32, last_rows(200, n_rows));
      // Line 149 is seen by the row at position 198 and none after it.
      std::fill_n(sequences[0].keys.floats() + 149 * 32, 32, kNaN);
      std::fill_n(sequences[0].values.floats() + 149 * 32, 32, kNaN);
      const Numbers q = Numbers::random(random, DType::F32, {n_rows, 64});
      Numbers mix(DType::F32, {n_rows, 64});
      FastKernels{Threads(2), set}.attention(shape, groups_of(sequences), q.tensor, mix.tensor);
      for (int64_t i = 0; i < n_rows * 64; ++i) {
        const int64_t position = 200 - n_rows + i / 64;
        CHECK(std::isnan(mix.floats()[i]) == (position >= 149 && position <= 198));
      }
    }
  }
}

TEST_CASE("fast attention: large scores, and keys of which nothing can be seen") {
  Random random(3);
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    const AttentionShape shape = {2, 1, 8, 1};
    for (const int n_rows : {1, 12}) {
      std::vector<Sequence> sequences;
      sequences.emplace_back(random, DType::F32, 300, 8, last_rows(300, n_rows));
      Numbers q(DType::F32, {n_rows, 16}), mix(DType::F32, {n_rows, 16});
      q.fill(1e3f);
      // Scores from -8e6 to 8e6; the largest belongs to one key only, whose value comes out alone.
      for (int64_t i = 0; i < 300 * 8; ++i) sequences[0].keys.floats()[i] = i / 8 == 200 ? 1e3f : -1e3f;
      kernels.attention(shape, groups_of(sequences), q.tensor, mix.tensor);
      for (int64_t i = 0; i < n_rows * 16; ++i) CHECK(mix.floats()[i] == sequences[0].values.floats()[200 * 8 + i % 8]);
      // A whole chunk of scores -infinity has no weight.
      for (int64_t i = 0; i < 128 * 8; ++i) sequences[0].keys.floats()[i] = -kInfinity;
      kernels.attention(shape, groups_of(sequences), q.tensor, mix.tensor);
      for (int64_t i = 0; i < n_rows * 16; ++i) CHECK(mix.floats()[i] == sequences[0].values.floats()[200 * 8 + i % 8]);
    }
  }
}

TEST_CASE("fast attention: NaN comes out of the rows that see it, and only there") {
  Random random(4);
  const AttentionShape shape = shape_of(4, 2, 16);
  for (const InstructionSet set : instruction_sets()) {
    FastKernels kernels{Threads(2), set};
    for (const bool in_values : {false, true}) {
      for (const float poison : {kNaN, kInfinity}) {
        for (const int n_rows : {3, 150}) {
          std::vector<Sequence> sequences;
          sequences.emplace_back(random, DType::F32, 200, 32, last_rows(200, n_rows));
          // Line 198 is seen by the last two rows, through the heads that read key-value head 1.
          (in_values ? sequences[0].values : sequences[0].keys).floats()[198 * 32 + 20] = poison;
          const Numbers q = Numbers::random(random, DType::F32, {n_rows, 64});
          Numbers mix(DType::F32, {n_rows, 64});
          kernels.attention(shape, groups_of(sequences), q.tensor, mix.tensor);
          int n_wrong = 0;
          for (int64_t i = 0; i < n_rows * 64; ++i) {
            const int64_t row = i / 64, column = i % 64;
            const bool may_be_poisoned = row >= n_rows - 2 && column >= 32;
            const bool finite = std::isfinite(mix.floats()[i]);
            if (!may_be_poisoned) n_wrong += !finite;
            // A key of infinity may give a score of -infinity, which is a weight of 0.
            if (may_be_poisoned && (std::isnan(poison) || in_values))
              n_wrong += finite != (in_values && column % 16 != 4);
          }
          CHECK(n_wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("fast attention: arguments that do not fit") {
  Random random(5);
  FastKernels kernels{Threads(1)};
  const Numbers q = Numbers::random(random, DType::F32, {2, 8}, "query");
  Numbers mix(DType::F32, {2, 8});
  std::vector<Sequence> sequences;
  sequences.emplace_back(random, DType::F32, 5, 4, std::vector<int>{4, 5});
  CHECK_THROWS_AS(kernels.attention(shape_of(2, 1, 4), groups_of(sequences), q.tensor, mix.tensor), Error);
  sequences[0].positions = {3, 4};
  kernels.attention(shape_of(2, 1, 4), groups_of(sequences), q.tensor, mix.tensor);
  CHECK_THROWS_AS(kernels.attention(shape_of(4, 3, 2), groups_of(sequences), q.tensor, mix.tensor), Error);
  CHECK_THROWS_AS(kernels.attention(shape_of(2, 2, 4), groups_of(sequences), q.tensor, mix.tensor), Error);
  CHECK_THROWS_AS(kernels.attention({2, 1, 4, 1, -1}, groups_of(sequences), q.tensor, mix.tensor), Error);
}
