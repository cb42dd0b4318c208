#include "kernels/fast/backward.h"

#include <algorithm>

#include "kernels/backward_checks.h"
#include "kernels/check_shapes.h"
#include "kernels/fast/rows.h"
#include "kernels/fast/tile_product.h"

namespace orrery {
namespace {

const BackwardLoops& backward_loops_of(InstructionSet instruction_set) {
#ifndef ORRERY_ONLY_BASELINE
  if (instruction_set == InstructionSet::x86_64_v3) return x86_64_v3::backward_loops;
#endif
  return baseline::backward_loops;
}

}  // namespace

FastBackward::FastBackward(Threads threads, InstructionSet instruction_set)
    : threads_(threads),
      loops_(loops_of(instruction_set)),
      back_(backward_loops_of(instruction_set)),
      recurrent_loops_(recurrent_loops_of(instruction_set)) {
  hold_blas_to_one_thread();
}

void FastBackward::clear(Tensor& gradient) {
  check_update("clear", activation_type(), {&gradient});
  constexpr int64_t kPieceElements = 64 * 1024;
  threads_.parallel_for(n_elements(gradient), kPieceElements, [&](int64_t begin, int64_t end) {
    std::fill(values<float>(gradient) + begin, values<float>(gradient) + end, 0.0f);
  });
}

// Threads share out the columns, not the ids: an id that occurs twice is added to in the order of its rows.
void FastBackward::embed(std::span<const int32_t> ids, const Tensor& dy, Tensor& dtable) {
  check_embed(activation_type(), dtable, ids, dy);
  check_gradient("embed", activation_type(), dtable, dtable);
  const Rows slopes(dy), table(dtable);
  constexpr int64_t kPieceColumns = 64;
  threads_.parallel_for(slopes.width, kPieceColumns, [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < slopes.count; ++n) {
      float* line = table[ids[static_cast<size_t>(n)]] + begin;
      loops_.add(line, slopes[n] + begin, end - begin, line);
    }
  });
}

void FastBackward::add(const Tensor& dy, Tensor& da) {
  check_add(activation_type(), dy, da, dy);
  check_gradient("add", activation_type(), da, da);
  const Rows slopes(dy), sums(da);
  if (da.n_dims < dy.n_dims) {
    sum_over_rows(slopes.count, slopes.width,
                  [&](int64_t row, float* const* parts) { loops_.add(parts[0], slopes[row], slopes.width, parts[0]); },
                  {sums.data});
    return;
  }
  for_each_row(threads_, slopes, [&](int64_t row) { loops_.add(sums[row], slopes[row], slopes.width, sums[row]); });
}

template <class Body>
void FastBackward::sum_over_rows(int64_t n_rows, int64_t width, const Body& body,
                                 std::initializer_list<float*> totals) {
  constexpr int64_t kPieceElements = 64 * 1024;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, width));
  const int64_t n_pieces = (n_rows + grain - 1) / grain, n_totals = static_cast<int64_t>(totals.size());
  partials_.assign(static_cast<size_t>(n_pieces * n_totals * width), 0.0f);
  threads_.parallel_for(n_rows, grain, [&](int64_t begin, int64_t end) {
    float* parts[kMostTotals];
    for (int64_t i = 0; i < n_totals; ++i) parts[i] = partials_.data() + (begin / grain * n_totals + i) * width;
    for (int64_t row = begin; row < end; ++row) body(row, parts);
  });
  for (int64_t piece = 0; piece < n_pieces; ++piece) {
    for (int64_t i = 0; i < n_totals; ++i) {
      float* total = totals.begin()[i];
      loops_.add(total, partials_.data() + (piece * n_totals + i) * width, width, total);
    }
  }
}

void FastBackward::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                            Tensor& dgain) {
  check_rms_norm(activation_type(), x, gain, dy);
  check_gradient("rms_norm", activation_type(), x, dx);
  check_gradient("rms_norm", activation_type(), gain, dgain);
  const Rows in(x), slopes(dy), out(dx);
  const float* gains = values<float>(gain);
  sum_over_rows(in.count, in.width,
                [&](int64_t row, float* const* parts) {
                  back_.rms_norm(in[row], gains, static_cast<float>(epsilon), slopes[row], in.width, out[row],
                                 parts[0]);
                },
                {values<float>(dgain)});
}

void FastBackward::layer_norm(const Tensor& x, const Tensor& gain, double epsilon, const Tensor& dy, Tensor& dx,
                              Tensor& dgain, Tensor& dbias) {
  check_layer_norm(activation_type(), x, gain, gain, dy);
  check_gradient("layer_norm", activation_type(), x, dx);
  check_gradient("layer_norm", activation_type(), gain, dgain);
  check_gradient("layer_norm", activation_type(), gain, dbias);
  const Rows in(x), slopes(dy), out(dx);
  const float* gains = values<float>(gain);
  sum_over_rows(in.count, in.width,
                [&](int64_t row, float* const* parts) {
                  back_.layer_norm(in[row], gains, static_cast<float>(epsilon), slopes[row], in.width, out[row],
                                   parts[0], parts[1]);
                },
                {values<float>(dgain), values<float>(dbias)});
}

void FastBackward::rope(const Tensor& dy, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                        Tensor& dx) {
  check_rope(activation_type(), dy, cosine, sine, head_dim, dx);
  const Rows slopes(dy), out(dx), cosines(cosine), sines(sine);
  const int64_t n_pairs = cosines.width, n_turned = 2 * n_pairs;
  const auto turn_back = layout == RopeLayout::interleaved ? back_.rope_interleaved : back_.rope_half_split;
  for_each_row(threads_, slopes, [&](int64_t row) {
    for (int64_t head = 0; head < slopes.width; head += head_dim) {
      const float* from = slopes[row] + head;
      float* to = out[row] + head;
      turn_back(from, cosines[row], sines[row], n_pairs, to);
      loops_.add(to + n_turned, from + n_turned, head_dim - n_turned, to + n_turned);
    }
  });
}

void FastBackward::activate(Activation activation, const Tensor& x, const Tensor& dy, Tensor& dx) {
  check_activate(activation_type(), x, dy);
  check_gradient("activate", activation_type(), x, dx);
  const Rows in(x), slopes(dy), out(dx);
  const auto function = activation == Activation::silu ? back_.silu : back_.gelu_tanh;
  for_each_row(threads_, in, [&](int64_t row) { function(in[row], slopes[row], in.width, out[row]); });
}

void FastBackward::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, const Tensor& dy,
                                  Tensor& dgate, Tensor& dup) {
  check_activate_gated(activation_type(), gate, up, dy);
  check_gradient("activate_gated", activation_type(), gate, dgate);
  check_gradient("activate_gated", activation_type(), up, dup);
  const Rows gates(gate), ups(up), slopes(dy), out_gate(dgate), out_up(dup);
  const auto function = activation == Activation::silu ? back_.silu_gated : back_.gelu_tanh_gated;
  for_each_row(threads_, gates, [&](int64_t row) {
    function(gates[row], ups[row], slopes[row], gates.width, out_gate[row], out_up[row]);
  });
}

}  // namespace orrery
