#include "recurrent/recurrent_state.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace orrery {

RecurrentState::RecurrentState(const ModelConfig& config, DType dtype)
    : n_layers_(config.n_layers), d_hidden_(config.d_hidden), dtype_(dtype) {
  const int n_parts = config.architecture == Architecture::lstm ? 2 * n_layers_ : n_layers_;
  numbers_.resize(bytes_of(dtype, int64_t{n_parts} * d_hidden_));
}

void RecurrentState::truncate(int length) {
  if (length == length_) return;
  if (length != 0) {
    throw Error({.what = "a recurrent model cannot go back to an earlier place in a text",
                 .where = "state after " + std::to_string(length_) + " tokens",
                 .expected = "0 or " + std::to_string(length_),
                 .found = std::to_string(length),
                 .hint = "fork the state where you want to come back to, or begin anew"});
  }
  std::ranges::fill(numbers_, std::byte{0});
  length_ = 0;
}

// A Tensor can be written to; it is the model that does so, at the end of a call.
Tensor RecurrentState::part(int index) const {
  auto* data = const_cast<std::byte*>(numbers_.data()) + bytes_of(dtype_, int64_t{index} * d_hidden_);
  return make_tensor("state", dtype_, {1, d_hidden_}, data);
}

}  // namespace orrery
