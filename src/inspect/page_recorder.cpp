#include "inspect/page_recorder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "inspect/probe_names.h"

namespace orrery {
namespace {

template <class T>
void append_lengths_of(const Tensor& x, std::vector<float>& lengths) {
  for (int64_t row = 0; row < x.shape[0]; ++row) {
    const T* element = values<T>(x) + row * x.stride[0];
    double sum = 0;
    for (int64_t i = 0; i < x.shape[1]; ++i) sum += static_cast<double>(element[i]) * static_cast<double>(element[i]);
    lengths.push_back(static_cast<float>(std::sqrt(sum)));
  }
}

void append_lengths(const Tensor& x, std::vector<float>& lengths) {
  if (x.dtype == DType::F64) return append_lengths_of<double>(x, lengths);
  append_lengths_of<float>(x, lengths);
}

// x [n_heads, rows, keys]; the last row sees all keys.
template <class T>
void append_roots(const Tensor& x, std::vector<uint8_t>& roots) {
  const int64_t n_rows = x.shape[1], n_keys = x.shape[2];
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t n_seen = n_keys - n_rows + row + 1;
    for (int64_t head = 0; head < x.shape[0]; ++head) {
      const T* weight = values<T>(x) + head * x.stride[0] + row * x.stride[1];
      for (int64_t key = 0; key < n_seen; ++key) {
        roots.push_back(static_cast<uint8_t>(std::lround(std::sqrt(std::clamp<double>(weight[key], 0, 1)) * 255)));
      }
    }
  }
}

}  // namespace

PageRecorder::PageRecorder(const ModelConfig& config, const Choice& choice)
    : attention_name_(config.post_norms ? "post_attention_norm" : "attn.out"),
      feed_forward_name_(config.post_norms ? "post_ffw_norm" : "ffn.out"),
      norms_(static_cast<size_t>(config.n_layers)) {
  for (int layer = 0; layer < config.n_layers; ++layer) {
    if (!choice || choice("blk." + std::to_string(layer) + ".attn.weights")) attention_.push_back({layer, {}});
  }
}

PageRecorder::Role PageRecorder::role_of(const Probe& probe) const {
  if (probe.layer < 0) return probe.name == "embed" ? Role::embedding : Role::none;
  const std::string_view name = split_probe_name(probe.name).kind;
  if (name == attention_name_) return Role::attention;
  if (name == feed_forward_name_) return Role::feed_forward;
  if (name == "resid") return Role::stream;
  const bool is_chosen = std::ranges::find(attention_, probe.layer, &LayerAttention::layer) != attention_.end();
  return name == "attn.weights" && is_chosen ? Role::weights : Role::none;
}

bool PageRecorder::wants(const Probe& probe) const { return role_of(probe) != Role::none; }

void PageRecorder::on_tensor(const Probe& probe, Tensor& tensor) {
  const Role role = role_of(probe);
  if (role == Role::none) return;  // another observer of this call may have wanted it
  if (role == Role::embedding) return append_lengths(tensor, embedding_);
  if (role == Role::weights) return keep_weights(probe.layer, tensor);
  LayerNorms& norms = norms_[static_cast<size_t>(probe.layer)];
  append_lengths(tensor, role == Role::attention      ? norms.attention
                         : role == Role::feed_forward ? norms.feed_forward
                                                      : norms.stream);
}

void PageRecorder::keep_weights(int layer, const Tensor& weights) {
  auto& kept = std::ranges::find(attention_, layer, &LayerAttention::layer)->roots;
  if (weights.dtype == DType::F64) return append_roots<double>(weights, kept);
  append_roots<float>(weights, kept);
}

}  // namespace orrery
