#include "kernels/fast/fast_kernels.h"

#include <cmath>

#include "kernels/check_shapes.h"
#include "kernels/fast/rows.h"
#include "kernels/fast/stored.h"
#include "kernels/fast/tile_product.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

// A vector of any type (a gain, a bias) as floats.
const float* vector_as_floats(const Loops& loops, const Tensor& vector, float* scratch) {
  const int64_t n = vector.shape[0];
  return as_floats(loops, {vector.dtype, vector.data, static_cast<int64_t>(bytes_of(vector.dtype, n)), 1, n}, scratch)
      .data;
}

}  // namespace

FastKernels::FastKernels(Threads threads, InstructionSet instruction_set)
    : threads_(threads),
      instruction_set_(instruction_set),
      loops_(loops_of(instruction_set)),
      recurrent_loops_(recurrent_loops_of(instruction_set)) {
  hold_blas_to_one_thread();
}

void FastKernels::embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) {
  check_embed(activation_type(), table, ids, y);
  const Rows out(y);
  for_each_row(threads_, out, [&](int64_t row) {
    widen(loops_, rows_of(table, ids[static_cast<size_t>(row)], 1, 0, out.width), out[row]);
  });
}

void FastKernels::add(const Tensor& a, const Tensor& b, Tensor& y) {
  check_add(activation_type(), a, b, y);
  const Rows left(a), out(y);
  if (b.n_dims < a.n_dims || b.dtype != DType::F32) {  // a bias
    const auto scratch = scratch_.borrow({out.width});
    const float* bias = vector_as_floats(loops_, b, scratch[0]);
    for_each_row(threads_, out, [&](int64_t row) { loops_.add(left[row], bias, out.width, out[row]); });
    return;
  }
  const Rows right(b);
  for_each_row(threads_, out, [&](int64_t row) { loops_.add(left[row], right[row], out.width, out[row]); });
}

void FastKernels::scale(const Tensor& x, double factor, Tensor& y) {
  check_scale(activation_type(), x, y);
  const Rows in(x), out(y);
  for_each_row(threads_, out,
               [&](int64_t row) { loops_.scale(in[row], static_cast<float>(factor), out.width, out[row]); });
}

void FastKernels::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) {
  check_rms_norm(activation_type(), x, gain, y);
  const Rows in(x), out(y);
  const auto scratch = scratch_.borrow({in.width});
  const float* factors = vector_as_floats(loops_, gain, scratch[0]);
  for_each_row(threads_, out, [&](int64_t row) {
    loops_.rms_norm(in[row], factors, static_cast<float>(epsilon), in.width, out[row]);
  });
}

void FastKernels::layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) {
  check_layer_norm(activation_type(), x, gain, bias, y);
  const Rows in(x), out(y);
  const auto scratch = scratch_.borrow({in.width, in.width});
  const float* factors = vector_as_floats(loops_, gain, scratch[0]);
  const float* addends = vector_as_floats(loops_, bias, scratch[1]);
  for_each_row(threads_, out, [&](int64_t row) {
    loops_.layer_norm(in[row], factors, addends, static_cast<float>(epsilon), in.width, out[row]);
  });
}

void FastKernels::rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                              Tensor& sine) {
  check_rope_angles(activation_type(), positions, frequencies, cosine, sine);
  const Rows cosines(cosine), sines(sine);
  // A cosine takes as long as some dozens of additions.
  constexpr int64_t kPieceAngles = 512;
  const int64_t grain = std::max<int64_t>(1, kPieceAngles / std::max<int64_t>(1, cosines.width));
  threads_.parallel_for(cosines.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t i = 0; i < cosines.width; ++i) {
        // In double: the float next to an angle of 8,000 is half a thousandth away.
        const double angle = positions[static_cast<size_t>(row)] * frequencies[static_cast<size_t>(i)];
        cosines[row][i] = static_cast<float>(std::cos(angle));
        sines[row][i] = static_cast<float>(std::sin(angle));
      }
    }
  });
}

void FastKernels::rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                       Tensor& y) {
  check_rope(activation_type(), x, cosine, sine, head_dim, y);
  const Rows in(x), out(y), cosines(cosine), sines(sine);
  const int64_t n_pairs = cosines.width, n_unturned = head_dim - 2 * n_pairs;
  const Loops::Rope turn = layout == RopeLayout::interleaved ? loops_.rope_interleaved : loops_.rope_half_split;
  for_each_row(threads_, out, [&](int64_t row) {
    for (int64_t head = 0; head < in.width; head += head_dim) {
      turn(in[row] + head, cosines[row], sines[row], n_pairs, out[row] + head);
      std::copy_n(in[row] + head + 2 * n_pairs, n_unturned, out[row] + head + 2 * n_pairs);
    }
  });
}

void FastKernels::activate(Activation activation, const Tensor& x, Tensor& y) {
  check_activate(activation_type(), x, y);
  const Rows in(x), out(y);
  const Loops::Activate function = activation == Activation::silu ? loops_.silu : loops_.gelu_tanh;
  for_each_row(threads_, out, [&](int64_t row) { function(in[row], in.width, out[row]); });
}

void FastKernels::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) {
  check_activate_gated(activation_type(), gate, up, y);
  const Rows gates(gate), ups(up), out(y);
  const Loops::ActivateGated function = activation == Activation::silu ? loops_.silu_gated : loops_.gelu_tanh_gated;
  for_each_row(threads_, out, [&](int64_t row) { function(gates[row], ups[row], out.width, out[row]); });
}

void FastKernels::convert(const Tensor& x, Tensor& y) {
  check_convert(x, y);
  const int64_t width = x.shape[x.n_dims - 1];
  if (width == 0) return;
  // Tensors of more dimensions are contiguous: all but the last become one.
  const auto as_matrix = [&](const Tensor& tensor) {
    return tensor.n_dims == 2 ? tensor : reshape(tensor, {n_elements(tensor) / width, width});
  };
  const Tensor from = as_matrix(x), to = as_matrix(y);
  threads_.parallel_for(from.shape[0], rows_of_a_piece(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const std::byte* source = row_data(from, row);
      std::byte* target = row_data(to, row);
      if (from.dtype == DType::F32 && to.dtype == DType::F16) {
        loops_.narrow_f16(reinterpret_cast<const float*>(source), width, target);
      } else if (from.dtype == DType::F32 && to.dtype == DType::BF16) {
        loops_.narrow_bf16(reinterpret_cast<const float*>(source), width, target);
      } else if (to.dtype == DType::F32) {
        widen(loops_, rows_of(from, row, 1, 0, width), reinterpret_cast<float*>(target));
      } else {
        convert_row(from.dtype, source, to.dtype, target, width);
      }
    }
  });
}

}  // namespace orrery
