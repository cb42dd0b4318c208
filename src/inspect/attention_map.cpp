#include "inspect/attention_map.h"

#include "model/language_model.h"

namespace orrery {

AttentionMap::AttentionMap(int layer, std::optional<int> head, int length)
    : layer_(layer), head_(head), length_(length) {}

bool AttentionMap::wants(const Probe& probe) const {
  return probe.layer == layer_ && probe.name.ends_with(".attn.weights");
}

void AttentionMap::on_tensor(const Probe& probe, Tensor& tensor) {
  if (!wants(probe)) return;  // another observer may have wanted it
  const int64_t n_keys = tensor.shape[2];
  for (int head = head_.value_or(0); head < (head_ ? *head_ + 1 : static_cast<int>(tensor.shape[0])); ++head) {
    const auto place = static_cast<size_t>(head - head_.value_or(0));
    if (place == heads_.size()) {
      heads_.push_back(head);
      weights_.emplace_back(static_cast<size_t>(length_) * static_cast<size_t>(length_));
    }
    for (int64_t row = 0; row < tensor.shape[1]; ++row) {
      const int64_t position = probe.rows[static_cast<size_t>(row)].position;
      for (int64_t key = 0; key < n_keys && key < length_; ++key) {
        weights_[place][static_cast<size_t>(position * length_ + key)] =
            element(tensor, (head * tensor.shape[1] + row) * n_keys + key);
      }
    }
  }
}

}  // namespace orrery
