// The inner loops of the fast kernels: plain functions over pointers and sizes, compiled once per instruction set.
//
// Files in this folder include no header with inline functions, not even <cmath>: the linker keeps one copy of such a
// function for the whole program, and if it took the one made for x86-64-v3, an older CPU would stop at it. (Functions
// of an unnamed namespace are the exception: every object keeps its own.)
#pragma once

#include <cstdint>

namespace orrery {

struct Loops {
  // y[k][r] = sum over i < n of w[r][i] * x[k][i], for n_rows rows of w and n_x rows of x. Or a row of w is n_parts
  // such rows side by side (the heads of a key), each with n_x rows of x and y of its own. The order of a sum depends
  // on n alone. Q8_0 wants n to be a multiple of 32.
  struct DotProducts {
    const void* w;
    int64_t row_bytes;  // from row to row of w
    int64_t n_rows;
    int64_t n_parts;
    const float* x;  // [n_parts * n_x, n]
    int64_t x_stride;
    int64_t n_x;
    int64_t n;
    float* y;  // [n_parts * n_x, n_rows]
    int64_t y_stride;
  };
  using Dots = void (*)(const DotProducts& products);
  Dots dots_f32, dots_f16, dots_bf16, dots_q8_0;

  // y[r][i] = x[r][i] as F32; row r of x begins at x + r * row_bytes, the rows of y lie side by side.
  using Widen = void (*)(const void* x, int64_t row_bytes, int64_t n_rows, int64_t n, float* y);
  Widen widen_f16, widen_bf16, widen_q8_0;
  // Rounded to nearest even.
  using Narrow = void (*)(const float* x, int64_t n, void* y);
  Narrow narrow_f16, narrow_bf16;

  // y[i] += sum over j < n_rows of weights[j] * rows[j][i], row after row; row j begins at rows + j * stride.
  void (*add_weighted_rows)(const float* weights, const float* rows, int64_t stride, int64_t n_rows, float* y,
                            int64_t n);

  void (*add)(const float* a, const float* b, int64_t n, float* y);
  void (*scale)(const float* x, float factor, int64_t n, float* y);
  void (*rms_norm)(const float* x, const float* gain, float epsilon, int64_t n, float* y);
  void (*layer_norm)(const float* x, const float* gain, const float* bias, float epsilon, int64_t n, float* y);
  // One head: pair i is (2i, 2i + 1), or (i, i + n_pairs).
  using Rope = void (*)(const float* x, const float* cosine, const float* sine, int64_t n_pairs, float* y);
  Rope rope_interleaved, rope_half_split;

  using Activate = void (*)(const float* x, int64_t n, float* y);
  Activate silu, gelu_tanh;
  using ActivateGated = void (*)(const float* gate, const float* up, int64_t n, float* y);
  ActivateGated silu_gated, gelu_tanh_gated;

  // The largest, -infinity if there is none; NaN does not count.
  float (*maximum)(const float* x, int64_t n);
  // y = exp(x - shift); returns the sum. x and y may be the same.
  float (*exponentials)(const float* x, float shift, int64_t n, float* y);
  // Sum of exp(x - shift), added up in double precision.
  double (*exponential_sum)(const float* x, float shift, int64_t n);

  // Sum over i < n of v[i] * tanh(query[i] + key[i]).
  float (*additive_score)(const float* query, const float* key, const float* v, int64_t n);

  // c[m, n] = a[m, k] * b, or c += a * b; b[l][j] is at b + l * b_row_stride + j * b_column_stride.
  struct Product {
    int64_t m, n, k;
    const float* a;
    int64_t a_stride;
    const float* b;
    int64_t b_row_stride, b_column_stride;
    float* c;
    int64_t c_stride;
    bool adds;
  };
  void (*multiply)(const Product& product);
};

// Defined in table.cpp, once per instruction set.
namespace baseline {
extern const Loops loops;
}
namespace x86_64_v3 {
extern const Loops loops;
}

}  // namespace orrery
