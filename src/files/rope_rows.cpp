#include "files/rope_rows.h"

#include <cstring>

namespace orrery {

std::vector<std::byte> interleaved_rows(const Tensor& weight, const ModelConfig& config) {
  std::vector<std::byte> result(n_bytes(weight));
  const int64_t n_rows = weight.shape[0];
  const size_t row_bytes = result.size() / static_cast<size_t>(n_rows);
  const int half = config.rope_dims / 2;
  for (int64_t row = 0; row < n_rows; ++row) {
    const auto place = static_cast<int>(row % config.head_dim);
    const int source = place >= config.rope_dims ? place : place % 2 * half + place / 2;
    std::memcpy(result.data() + static_cast<size_t>(row) * row_bytes,
                weight.data + static_cast<size_t>(row - place + source) * row_bytes, row_bytes);
  }
  return result;
}

}  // namespace orrery
