// What the tests of the way back share: every operation as a case that can go forward and back with any kernels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backward.h"
#include "kernels/fast/backward.h"
#include "kernels/fast_support.h"
#include "kernels/recurrent_cases.h"
#include "kernels/reference/backward.h"

namespace orrery::test {

// Inputs and how to go from them to an output and back. Tensors are given in the order of `inputs`.
struct BackwardCase {
  std::string name;
  std::vector<std::vector<int64_t>> inputs;  // shapes
  std::vector<int64_t> output;               // shape
  std::function<void(Kernels&, const std::vector<Tensor>& inputs, Tensor& y)> forward;
  // y is what forward gave; adds to the gradients.
  std::function<void(BackwardKernels&, const std::vector<Tensor>& inputs, const Tensor& y, const Tensor& dy,
                     std::vector<Tensor>& gradients)>
      back;
};

// A sequence of a call to attention: keys and values are tensors of rows, cut as the model cuts them.
struct AttentionRows {
  std::vector<std::vector<int>> positions;  // of each group
  std::vector<std::vector<KeyValueSpan>> spans;
  std::vector<AttentionGroup> groups;

  AttentionRows(const std::vector<int>& lengths, const Tensor& keys, const Tensor& values) {
    int row = 0;
    for (const int length : lengths) {
      spans.emplace_back();
      for (int first = 0; first < length; first += kAttentionChunk) {
        const int count = std::min(kAttentionChunk, length - first);
        spans.back().push_back({slice_rows(keys, row + first, count), slice_rows(values, row + first, count)});
      }
      positions.emplace_back();
      for (int i = 0; i < length; ++i) positions.back().push_back(i);
      row += length;
    }
    row = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      groups.push_back({row, positions[i], spans[i]});
      row += lengths[i];
    }
  }
};

inline BackwardCase embed_case(int64_t vocab, int64_t d, std::vector<int32_t> ids) {
  return {"embed",
          {{vocab, d}},
          {static_cast<int64_t>(ids.size()), d},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.embed(in[0], ids, y); },
          [=](BackwardKernels& k, const std::vector<Tensor>&, const Tensor&, const Tensor& dy, std::vector<Tensor>& g) {
            k.embed(ids, dy, g[0]);
          }};
}

inline BackwardCase matmul_case(int64_t n, int64_t n_in, int64_t n_out) {
  return {
      "matmul",
      {{n, n_in}, {n_out, n_in}},
      {n, n_out},
      [](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.matmul(in[0], in[1], y); },
      [](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy, std::vector<Tensor>& g) {
        k.matmul_input(dy, in[1], g[0]);
        k.matmul_weight(dy, in[0], g[1]);
      }};
}

inline BackwardCase add_case(int64_t n, int64_t d, bool is_bias) {
  return {is_bias ? "add a bias" : "add",
          {{n, d}, is_bias ? std::vector<int64_t>{d} : std::vector<int64_t>{n, d}},
          {n, d},
          [](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.add(in[0], in[1], y); },
          [](BackwardKernels& k, const std::vector<Tensor>&, const Tensor&, const Tensor& dy, std::vector<Tensor>& g) {
            k.add(dy, g[0]);
            k.add(dy, g[1]);
          }};
}

inline BackwardCase rms_norm_case(int64_t n, int64_t d, double epsilon) {
  return {"rms_norm",
          {{n, d}, {d}},
          {n, d},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.rms_norm(in[0], in[1], epsilon, y); },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy,
              std::vector<Tensor>& g) { k.rms_norm(in[0], in[1], epsilon, dy, g[0], g[1]); }};
}

inline BackwardCase layer_norm_case(int64_t n, int64_t d, double epsilon) {
  return {"layer_norm",
          {{n, d}, {d}, {d}},
          {n, d},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.layer_norm(in[0], in[1], in[2], epsilon, y); },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy,
              std::vector<Tensor>& g) { k.layer_norm(in[0], in[1], epsilon, dy, g[0], g[1], g[2]); }};
}

// The last two inputs are cosines and sines: they get no gradient, and need not lie on a circle.
inline BackwardCase rope_case(int64_t n, int n_heads, int head_dim, int64_t n_pairs, RopeLayout layout) {
  const int64_t d = int64_t{n_heads} * head_dim;
  const auto angles = std::make_shared<Numbers>(DType::F64, std::vector<int64_t>{2, n, n_pairs});
  Random random(7);
  for (int64_t i = 0; i < 2 * n * n_pairs; ++i) values<double>(angles->tensor)[i] = random.normal();
  const auto part = [=](DType dtype, int which) {
    auto numbers = std::make_shared<Numbers>(dtype, std::vector<int64_t>{n, n_pairs});
    convert_row(DType::F64, angles->tensor.data + bytes_of(DType::F64, which * n * n_pairs), dtype,
                numbers->tensor.data, n * n_pairs);
    return numbers;
  };
  return {
      layout == RopeLayout::interleaved ? "rope, interleaved" : "rope, half split",
      {{n, d}},
      {n, d},
      [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
        const auto cosine = part(in[0].dtype, 0), sine = part(in[0].dtype, 1);
        k.rope(in[0], cosine->tensor, sine->tensor, layout, head_dim, y);
      },
      [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy, std::vector<Tensor>& g) {
        const auto cosine = part(in[0].dtype, 0), sine = part(in[0].dtype, 1);
        k.rope(dy, cosine->tensor, sine->tensor, layout, head_dim, g[0]);
      }};
}

inline BackwardCase activate_case(Activation activation, int64_t n, int64_t d) {
  return {activation == Activation::silu ? "silu" : "gelu_tanh",
          {{n, d}},
          {n, d},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.activate(activation, in[0], y); },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy,
              std::vector<Tensor>& g) { k.activate(activation, in[0], dy, g[0]); }};
}

inline BackwardCase activate_gated_case(Activation activation, int64_t n, int64_t d) {
  return {activation == Activation::silu ? "silu, gated" : "gelu_tanh, gated",
          {{n, d}, {n, d}},
          {n, d},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) { k.activate_gated(activation, in[0], in[1], y); },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy,
              std::vector<Tensor>& g) { k.activate_gated(activation, in[0], in[1], dy, g[0], g[1]); }};
}

// Inputs: q, k and v of all rows; sequences of these lengths.
inline BackwardCase attention_case(AttentionShape shape, const std::vector<int>& lengths) {
  int64_t n = 0;
  for (const int length : lengths) n += length;
  const int64_t q_dim = int64_t{shape.n_heads} * shape.head_dim, kv_dim = int64_t{shape.n_kv_heads} * shape.head_dim;
  return {"attention",
          {{n, q_dim}, {n, kv_dim}, {n, kv_dim}},
          {n, q_dim},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
            k.attention(shape, AttentionRows(lengths, in[1], in[2]).groups, in[0], y);
          },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor& y, const Tensor& dy,
              std::vector<Tensor>& g) {
            const AttentionRows rows(lengths, in[1], in[2]), gradients(lengths, g[1], g[2]);
            k.attention(shape, rows.groups, in[0], y, dy, g[0], gradients.groups);
          }};
}

// Queries look at all keys of another sequence: their positions are that of the last key. Inputs: q, keys, values.
inline BackwardCase cross_attention_case(AttentionShape shape, const std::vector<std::pair<int, int>>& counts) {
  int64_t n = 0, m = 0;
  std::vector<int> lengths;
  for (const auto& [queries, keys] : counts) {
    n += queries;
    m += keys;
    lengths.push_back(keys);
  }
  const auto groups = [=](AttentionRows& rows) {
    int first = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto [queries, keys] = counts[i];
      rows.positions[i].assign(static_cast<size_t>(queries), keys - 1);
      rows.groups[i] = {first, rows.positions[i], rows.spans[i]};
      first += queries;
    }
    return rows.groups;
  };
  const int64_t q_dim = int64_t{shape.n_heads} * shape.head_dim, kv_dim = int64_t{shape.n_kv_heads} * shape.head_dim;
  return {"attention to another sequence",
          {{n, q_dim}, {m, kv_dim}, {m, kv_dim}},
          {n, q_dim},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
            AttentionRows rows(lengths, in[1], in[2]);
            k.attention(shape, groups(rows), in[0], y);
          },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor& y, const Tensor& dy,
              std::vector<Tensor>& g) {
            AttentionRows rows(lengths, in[1], in[2]), gradients(lengths, g[1], g[2]);
            const auto of_rows = groups(rows), of_gradients = groups(gradients);
            k.attention(shape, of_rows, in[0], y, dy, g[0], of_gradients);
          }};
}

// Groups of so many queries and keys. Inputs: q, keys, score, values. The weights are made again on the way back.
inline BackwardCase additive_case(int64_t d_score, int64_t d_value, const std::vector<std::pair<int, int>>& counts) {
  std::vector<AlignmentGroup> groups;
  int64_t n = 0, m = 0, most = 0;
  for (const auto& [queries, keys] : counts) {
    groups.push_back({{n, queries}, {m, keys}});
    n += queries;
    m += keys;
    most = std::max<int64_t>(most, keys);
  }
  const auto input = [=](const std::vector<Tensor>& in) { return AdditiveInput{groups, in[0], in[1], in[2], in[3]}; };
  return {"additive attention",
          {{n, d_score}, {m, d_score}, {d_score}, {m, d_value}},
          {n, d_value},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
            Numbers weights(y.dtype, {n, most});
            AdditiveOutput output{.weights = weights.tensor, .mix = y};
            k.attend_additively(input(in), output);
          },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor& y, const Tensor& dy,
              std::vector<Tensor>& g) {
            Numbers weights(y.dtype, {n, most}), mix(y.dtype, {n, d_value});
            AdditiveOutput output{.weights = weights.tensor, .mix = mix.tensor};
            if (y.dtype == DType::F64) ReferenceKernels<double>(Threads(1)).attend_additively(input(in), output);
            if (y.dtype == DType::F32) ReferenceKernels<float>(Threads(1)).attend_additively(input(in), output);
            AdditiveGradients gradients{.q = g[0], .keys = g[1], .score = g[2], .values = g[3]};
            k.attend_additively(input(in), {.weights = weights.tensor, .mix = y}, dy, gradients);
          }};
}

// The losses are the output [n], in F64 whatever the kernels compute in.
inline BackwardCase cross_entropy_case(int64_t vocab, const std::vector<int32_t>& targets) {
  const auto n = static_cast<int64_t>(targets.size());
  return {
      "cross_entropy",
      {{n, vocab}},
      {n},
      [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
        std::vector<double> losses(targets.size());
        k.cross_entropy(in[0], targets, losses);
        convert_row(DType::F64, reinterpret_cast<const std::byte*>(losses.data()), y.dtype, y.data, n);
      },
      [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy, std::vector<Tensor>& g) {
        std::vector<double> dlosses(targets.size());
        convert_row(dy.dtype, dy.data, DType::F64, reinterpret_cast<std::byte*>(dlosses.data()), n);
        k.cross_entropy(in[0], targets, dlosses, g[0]);
      }};
}

// Output: the hidden states, and of the LSTM the cells before them.
inline BackwardCase recurrent_case(const LayerShape& shape) {
  return {name_of(shape.cell),
          shape.inputs(),
          {(shape.cell == Cell::lstm ? 2 : 1) * shape.n(), shape.d_hidden},
          [=](Kernels& k, const std::vector<Tensor>& in, Tensor& y) {
            const LayerRun run(k, shape, in);
            copy_states(shape, run, y);
          },
          [=](BackwardKernels& k, const std::vector<Tensor>& in, const Tensor&, const Tensor& dy,
              std::vector<Tensor>& g) { layer_back(k, shape, in, dy, g); }};
}

inline AttentionShape attention_shape(int n_heads, int n_kv_heads, int head_dim, int window = 0) {
  return {n_heads, n_kv_heads, head_dim, 1 / std::sqrt(static_cast<double>(head_dim)), window};
}

// Ids with many repetitions.
inline std::vector<int32_t> few_ids(int64_t count, int64_t below, Random& random) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(std::min<int64_t>(below, 5)))));
  }
  return ids;
}

// Every operation, at sizes that follow from `size`.
inline std::vector<BackwardCase> cases_of_size(int size, Random& random) {
  const auto other = [&](int64_t most) { return 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(most))); };
  const int heads[][2] = {{1, 1}, {3, 3}, {4, 2}, {6, 2}, {3, 1}, {6, 3}};
  const auto& [n_heads, n_kv_heads] = heads[size % 6];
  const int head_dim = static_cast<int>(other(40));
  const int64_t n_pairs = static_cast<int64_t>(random.below(static_cast<uint64_t>(head_dim / 2 + 1)));
  const int64_t vocab = other(50);
  std::vector<BackwardCase> cases = {
      embed_case(vocab, size, few_ids(other(30), vocab, random)),
      matmul_case(size, other(70), other(70)),
      matmul_case(other(70), size, other(70)),
      matmul_case(other(70), other(70), size),
      add_case(other(20), size, false),
      add_case(other(20), size, true),
      rms_norm_case(other(20), size, 1e-5),
      rms_norm_case(size, other(20), 0.3),
      layer_norm_case(other(20), size + 1, 1e-5),
      layer_norm_case(size, other(20) + 1, 0.3),
      activate_case(Activation::silu, other(5), size),
      activate_case(Activation::gelu_tanh, other(5), size),
      activate_gated_case(Activation::silu, other(5), size),
      activate_gated_case(Activation::gelu_tanh, other(5), size),
      attention_case(attention_shape(n_heads, n_kv_heads, head_dim), {size}),
      attention_case(attention_shape(n_heads, n_kv_heads, size), {static_cast<int>(other(9)), 1}),
      attention_case(attention_shape(n_heads, n_kv_heads, head_dim, 1 + size / 2), {size, 1}),
      cross_attention_case(attention_shape(n_heads, n_kv_heads, head_dim),
                           {{size, static_cast<int>(other(9))}, {2, size}}),
      additive_case(other(40), other(40), {{size, static_cast<int>(other(9))}, {2, size}}),
      additive_case(size, other(9), {{1, 3}, {0, 2}, {3, 1}}),
      cross_entropy_case(size, few_ids(other(20), size, random)),
  };
  // Wide layers of such inputs are saturated, and their slopes rounding: see recurrent_test.cpp for those.
  const Cell cell = kCells[size % 4];
  const int width = 1 + size % 7;
  cases.push_back(recurrent_case({cell, {static_cast<int>(other(5)), 1, 3}, other(10), width, size % 3 == 0}));
  cases.push_back(recurrent_case({cell, std::vector<int>(size_t(1 + size / 8), 3), width, other(10), size % 3 == 1}));
  if (n_pairs > 0) {
    cases.push_back(rope_case(size, n_heads, head_dim, n_pairs, RopeLayout::interleaved));
    cases.push_back(rope_case(size, n_heads, head_dim, n_pairs, RopeLayout::half_split));
  }
  return cases;
}

// Owned tensors with these shapes and random numbers.
inline std::vector<Numbers> random_numbers(Random& random, const std::vector<std::vector<int64_t>>& shapes) {
  std::vector<Numbers> numbers;
  for (const auto& shape : shapes) numbers.push_back(Numbers::random(random, DType::F64, shape));
  return numbers;
}

inline std::vector<Numbers> as(const std::vector<Numbers>& numbers, DType dtype) {
  std::vector<Numbers> result;
  for (const Numbers& one : numbers) result.push_back(one.as(dtype));
  return result;
}

inline std::vector<Tensor> tensors_of(const std::vector<Numbers>& numbers) {
  std::vector<Tensor> tensors;
  for (const Numbers& one : numbers) tensors.push_back(one.tensor);
  return tensors;
}

}  // namespace orrery::test
