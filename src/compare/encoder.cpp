#include "compare/encoder.h"

#include <algorithm>

#include "base/error.h"

namespace orrery {

Tensor EncoderTransformer::through_blocks(Pass& pass) const {
  for (const Sequence& sequence : pass.sequences) {
    if (sequence.cache == nullptr) continue;
    throw Error({.what = "an encoder goes through a sequence as a whole, and remembers nothing",
                 .where = "row " + std::to_string(sequence.first_row),
                 .expected = "rows without a state"});
  }
  Tensor x = embed(pass);  // [n, d_model]
  // From here on positions only say which keys a row sees: all up to its sequence's last.
  for (const Sequence& sequence : pass.sequences) {
    std::fill_n(pass.positions.begin() + sequence.first_row, sequence.n_rows, sequence.n_rows - 1);
  }
  for (pass.layer = 0; pass.layer < config().n_layers; ++pass.layer) x = block(pass, x);  // [n, d_model]
  pass.layer = -1;
  return x;
}

Tensor EncoderTransformer::encode(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                                  std::span<Observer* const> observers) {
  Pass pass = begin(rows, kernels, arena, observers);
  const Tensor x = through_blocks(pass);                     // [n, d_model]
  return norm(pass, "final_norm", weights().final_norm, x);  // [n, d_model]
}

Tensor EncoderTransformer::forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                                   std::span<Observer* const> observers) {
  Pass pass = begin(rows, kernels, arena, observers);
  const Tensor x = through_blocks(pass);  // [n, d_model]
  return head(pass, x);                   // [rows that want logits, vocab]
}

}  // namespace orrery
