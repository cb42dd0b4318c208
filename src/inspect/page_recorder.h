// Keeps what the page shows (inspect/page.h) of a run over one sequence.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "model/observer.h"
#include "tensor/tensor.h"

namespace orrery {

// Lengths (root of the sum of squares) of vectors in the residual stream, by position.
struct LayerNorms {
  std::vector<float> attention;     // what attention adds
  std::vector<float> feed_forward;  // what the feed-forward adds
  std::vector<float> stream;        // the residual after the block
};

// A layer's attention weights: position after position, at each all heads, of each head the keys 0 to that position.
struct LayerAttention {
  int layer = 0;
  std::vector<uint8_t> roots;  // 255 times the square root of each weight: small weights keep more digits this way
};

class PageRecorder : public Observer {
 public:
  // Whether to keep the attention weights of "blk.L.attn.weights".
  using Choice = std::function<bool(std::string_view name)>;
  explicit PageRecorder(const ModelConfig& config, const Choice& choice = {});

  bool wants(const Probe& probe) const override;
  void on_tensor(const Probe& probe, Tensor& tensor) override;

  int n_positions() const { return static_cast<int>(embedding_.size()); }      // that were seen, from 0 on
  const std::vector<LayerAttention>& attention() const { return attention_; }  // of the layers chosen
  const std::vector<float>& embedding() const { return embedding_; }           // lengths, by position
  const std::vector<LayerNorms>& norms() const { return norms_; }              // by layer

 private:
  enum class Role { none, embedding, attention, feed_forward, stream, weights };
  Role role_of(const Probe& probe) const;
  void keep_weights(int layer, const Tensor& weights);

  std::string_view attention_name_, feed_forward_name_;  // of what is added to the stream, after "blk.L."
  std::vector<LayerAttention> attention_;
  std::vector<float> embedding_;
  std::vector<LayerNorms> norms_;
};

}  // namespace orrery
