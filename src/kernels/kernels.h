// Every operation a model needs, one virtual function each. Kernels know shapes, not models. Outputs come last and are
// made by the caller; shapes stand behind each declaration. Activations are all of `activation_type()`; weights may be
// of any DType. Inputs and outputs may not overlap. Loops over elements live behind this interface and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/model_config.h"
#include "kernels/additive_attention.h"
#include "kernels/recurrent.h"
#include "tensor/tensor.h"

namespace orrery {

// Keys that one piece of decode attention adds up, and positions of one page of a KvCache.
constexpr int kAttentionChunk = 128;

struct KeyValueSpan {  // consecutive positions of one sequence
  Tensor keys;         // [n_keys, n_kv_heads * head_dim]
  Tensor values;       // [n_keys, n_kv_heads * head_dim]
};

// The rows of one sequence in a call, and all keys that they may see. Every span but the last holds kAttentionChunk
// keys; the key in line j is the one at position j.
struct AttentionGroup {
  int first_row = 0;               // rows [first_row, first_row + positions.size()) of q and of the result
  std::span<const int> positions;  // of these rows: a row at position p sees no key after p
  std::span<const KeyValueSpan> spans;
};

struct AttentionShape {
  int n_heads = 0;
  int n_kv_heads = 0;  // query head h reads key-value head h / (n_heads / n_kv_heads)
  int head_dim = 0;
  double scale = 0;  // of the dot products, 1 / sqrt(head_dim) as a rule
  int window = 0;    // a row sees the last so many positions up to its own; 0: all
  // The first key that a row at this position sees.
  int first_key(int position) const { return window == 0 || position < window ? 0 : position - window + 1; }
};

struct Candidate {
  int32_t id;
  float value;
};

class Kernels : public RecurrentKernels, public AdditiveAttention {
 public:
  virtual const char* name() const = 0;
  virtual DType activation_type() const = 0;  // F32 or F64

  // y[n, d] = row ids[n] of table[vocab, d]
  virtual void embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) = 0;
  // y[n, out] = x[n, in] * w[out, in]^T
  virtual void matmul(const Tensor& x, const Tensor& w, Tensor& y) = 0;
  // y[n, d] = a[n, d] + b[n, d], or + b[d] for every row
  virtual void add(const Tensor& a, const Tensor& b, Tensor& y) = 0;

  // y[n, d] = factor * x[n, d]
  virtual void scale(const Tensor& x, double factor, Tensor& y) = 0;

  // Over the last dimension of x, which is as long as gain (and bias): y = x / sqrt(mean(x^2) + epsilon) * gain
  virtual void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) = 0;
  // y = (x - mean(x)) / sqrt(variance(x) + epsilon) * gain + bias
  virtual void layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) = 0;

  // cosine[n, pairs], sine[n, pairs] of positions[n] * frequencies[pairs]
  virtual void rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                           Tensor& sine) = 0;
  // x[n, heads * head_dim]: the first 2 * pairs elements of each head turn, pair by pair; the rest is copied
  virtual void rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                    Tensor& y) = 0;

  virtual void activate(Activation activation, const Tensor& x, Tensor& y) = 0;
  // y = activation(gate) * up, all [n, d_ff]
  virtual void activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) = 0;

  // mix[n, n_heads * head_dim] = softmax(scale * q * keys^T, where a row may see) * values, for all groups
  virtual void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                         Tensor& mix) = 0;
  // The same in three steps, for one group, when somebody wants to see them:
  // scores[n_heads, rows, keys], -infinity where a row may not see
  virtual void attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                                Tensor& scores) = 0;
  // over the last dimension; a row of -infinity alone is an error of the caller
  virtual void softmax(const Tensor& x, Tensor& y) = 0;
  // writes the group's rows of mix
  virtual void attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                             Tensor& mix) = 0;

  // The same values in another type (into a KvCache, out of a half-precision table): x and y of one shape
  virtual void convert(const Tensor& x, Tensor& y) = 0;

  // What samplers and losses ask of a row of logits [vocab].
  // Index of the first NaN or infinity among all elements, -1 if there is none
  virtual int64_t first_non_finite(const Tensor& x) = 0;
  // The `count` largest, largest first, equal ones by lowest id; all of them when count >= vocab
  virtual std::vector<Candidate> largest(const Tensor& logits, int64_t count) = 0;
  // losses[n] = -log softmax(logits[n])[targets[n]], in nats
  virtual void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) = 0;
};

}  // namespace orrery
