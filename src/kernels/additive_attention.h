// Attention that compares a query with a key by a small network instead of a product (Bahdanau, Cho and Bengio, 2015,
// section A.1.2): the score of query i and key j is v . tanh(q[i] + k[j]). Its weights are the softmax of the scores,
// what it gives is the sum of the values with these weights. It stands beside Kernels::attention because a transformer
// does not have it.
#pragma once

#include <span>

#include "kernels/recurrent.h"
#include "tensor/tensor.h"

namespace orrery {

// Neighbouring rows of queries that look at neighbouring keys, all of them.
struct AlignmentGroup {
  RowRange queries;
  RowRange keys;
};

struct AdditiveInput {
  std::span<const AlignmentGroup> groups;  // each of one key at least; their queries are all rows of q, in order
  Tensor q;                                // [n, d_score]
  Tensor keys;                             // [m, d_score]
  Tensor score;                            // [d_score], v above; of the type of the activations
  Tensor values;                           // [m, d_value]
};

// Made by the caller. The way back reads both.
struct AdditiveOutput {
  Tensor weights;  // [n, most keys of a group]; zeros behind the keys that a query sees
  Tensor mix;      // [n, d_value]
};

class AdditiveAttention {
 public:
  virtual ~AdditiveAttention() = default;
  virtual void attend_additively(const AdditiveInput& in, AdditiveOutput& y) = 0;
};

struct AdditiveGradients {
  Tensor q, keys, score, values;
};

class AdditiveBackward {
 public:
  virtual ~AdditiveBackward() = default;
  // Adds to the gradients. No two groups may share a key.
  virtual void attend_additively(const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                                 AdditiveGradients& d) = 0;
};

}  // namespace orrery
