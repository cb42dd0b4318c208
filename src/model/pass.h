// One call of forward(): the rows, the tools, and the sequences that the rows belong to.
#pragma once

#include <string_view>
#include <vector>

#include "model/kv_cache.h"
#include "model/language_model.h"

namespace orrery {

// Neighbouring rows of one sequence.
struct Sequence {
  int first_row = 0;
  int n_rows = 0;
  int first_position = 0;          // of the first row; 0 where there is no state
  SequenceState* state = nullptr;  // of any kind of model
  KvCache* cache = nullptr;        // a transformer's; nullptr: keys and values are the rows' own
  int n_keys() const { return first_position + n_rows; }
};

// Finds the sequences in the rows. Throws Error for positions out of order or past the context and for tokens outside
// the vocabulary; nothing has changed then.
std::vector<Sequence> find_sequences(std::span<const Row> rows, int vocab_size, int context_length);

struct RopeAngles {
  Tensor cosine, sine;  // [n, rope_dims / 2]
};

struct Pass {
  std::span<const Row> rows;
  Kernels& kernels;
  Arena& arena;
  std::span<Observer* const> observers;
  std::vector<Sequence> sequences = {};
  std::vector<int> positions = {};            // of the rows: the last key that each sees
  std::vector<TokenId> tokens = {};           //
  std::vector<int> logit_rows = {};           // those that want logits
  RopeAngles angles = {}, local_angles = {};  // the latter of windowed layers, where they have their own
  int layer = -1;                             // the block that is being computed

  int64_t n() const { return static_cast<int64_t>(rows.size()); }

  // A tensor [n_rows, width] in the arena, named after the layer it belongs to: "blk.3.attn.q".
  Tensor make(std::string_view name, int64_t width) { return make(name, {n(), width}); }
  Tensor make(std::string_view name, std::initializer_list<int64_t> shape);

  // Shows a finished tensor to whoever wants to see it. Its rows are those of the call, or others where they are given.
  void announce(Tensor& tensor, std::span<const Row> tensor_rows = {});
  std::vector<Row> wanting_rows() const;  // those that want logits
  // Whether somebody wants this layer's tensor of that name.
  bool is_wanted(std::string_view name);
};

}  // namespace orrery
