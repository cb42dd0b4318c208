#include "learn/training_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "config/recurrent_arithmetic.h"
#include "files/weight_list.h"

namespace orrery {
namespace {

uint64_t padded_bytes(int64_t elements, DType dtype) { return (bytes_of(dtype, elements) + 63) / 64 * 64; }

uint64_t weight_bytes_in_training(const ModelConfig& config, DType dtype) {
  uint64_t bytes = 0;
  for (const NamedShape& weight : weight_shapes(config)) {
    int64_t n = 1;
    for (const int64_t size : weight.shape) n *= size;
    bytes += padded_bytes(n, dtype);
  }
  return bytes;
}

// Every block's intermediates at the same time, and those of the head.
uint64_t kept_activation_bytes(const ModelConfig& config, int64_t rows, DType dtype) {
  const auto rows_of = [&](int64_t width) { return padded_bytes(rows * width, dtype); };
  const uint64_t embedded = embedding_activation_bytes(config, rows, dtype);
  ModelConfig no_blocks = config;
  no_blocks.n_layers = 0;
  const uint64_t block = activation_bytes(no_blocks, rows, 0, dtype) - embedded;
  const uint64_t head = rows_of(config.d_model) + rows_of(config.vocab_size);
  return embedded + static_cast<uint64_t>(config.n_layers) * (block + rows_of(config.d_model)) + head;
}

// Goes the way of Tape::backward with nothing but widths: which gradients are there at a time. Where each head is
// normed by itself, the rows of the gradient are heads: these keep to themselves (GradientMemory goes by the rows'
// width).
class WalkedWidths {
 public:
  void take(int64_t width, bool is_heads = false) {
    Places& places = places_[is_heads ? kHeads : width];
    for (Place& place : places) {
      if (place.is_taken) continue;
      place = {std::max(place.width, width), true};
      return;
    }
    places.push_back({width, true});
  }
  void give_back(int64_t width, bool is_heads = false) {
    for (Place& place : places_[is_heads ? kHeads : width]) {
      if (!place.is_taken || place.width != width) continue;
      place.is_taken = false;
      return;
    }
  }
  // The gradient of one tensor makes room for that of another, which `from` follows from.
  void through(int64_t from, int64_t to) {
    take(to);
    give_back(from);
  }
  uint64_t bytes(int64_t rows, DType dtype) const {
    uint64_t sum = 0;
    for (const auto& [key, places] : places_) {
      for (const Place& place : places) sum += padded_bytes(rows * place.width, dtype);
    }
    return sum;
  }

 private:
  static constexpr int64_t kHeads = -1;
  struct Place {
    int64_t width;
    bool is_taken;
  };
  using Places = std::vector<Place>;
  std::map<int64_t, Places> places_;
};

void walk_block(const ModelConfig& c, WalkedWidths& walk) {
  const int64_t d = c.d_model, q = c.q_dim(), kv = c.kv_dim();
  const auto linear = [&](int64_t out, bool has_bias) {  // but for the gradient of its input
    if (has_bias) walk.through(out, out);                // from the sum to the product
  };
  walk.take(d);        // resid_mid
  walk.through(d, d);  // resid to ffn.out, or to its norm and on
  if (c.post_norms) walk.through(d, d);
  linear(d, c.ffn_bias);
  walk.through(d, c.d_ff);  // to ffn.act
  walk.take(c.d_ff);        // ffn.up
  if (c.gated_ffn) walk.take(c.d_ff);
  walk.give_back(c.d_ff);
  linear(c.d_ff, c.ffn_bias);
  walk.through(c.d_ff, d);  // to ffn_norm
  if (c.gated_ffn) {
    linear(c.d_ff, c.ffn_bias);
    walk.give_back(c.d_ff);
  }
  walk.give_back(d);   // ffn_norm, which leads to resid_mid
  walk.take(d);        // the residual before the block
  walk.through(d, d);  // resid_mid to attn.out, or to its norm and on
  if (c.post_norms) walk.through(d, d);
  linear(d, c.output_bias);
  walk.through(d, q);  // to attn.mix
  walk.take(q);
  walk.take(kv);
  walk.take(kv);
  walk.give_back(q);
  const bool turns = c.positions == Positions::rope;
  for (const int64_t width : {kv, q}) {  // k_rope to k_norm, q_rope to q_norm; or to k and q
    if (turns) walk.take(width, c.qk_norm);
    if (turns) walk.give_back(width);
  }
  for (const int64_t width : {kv, q}) {  // k_norm to k, q_norm to q
    if (!c.qk_norm) continue;
    walk.take(width);
    walk.give_back(width, turns);
  }
  linear(kv, c.attention_bias);
  walk.through(kv, d);  // v to attn_norm
  linear(kv, c.attention_bias);
  walk.give_back(kv);
  linear(q, c.attention_bias);
  walk.give_back(q);
  walk.give_back(d);  // attn_norm, which leads to the residual before the block
}

uint64_t activation_gradient_bytes(const ModelConfig& config, int64_t rows, DType dtype) {
  WalkedWidths walk;
  walk.take(config.vocab_size);
  walk.through(config.vocab_size, config.d_model);  // to final_norm
  walk.through(config.d_model, config.d_model);     // to the last residual
  if (config.n_layers > 0) walk_block(config, walk);
  if (config.embedding_scale != 1) walk.through(config.d_model, config.d_model);
  if (config.positions == Positions::learned) {
    walk.take(config.d_model);
    walk.take(config.d_model);
  }
  return walk.bytes(rows, dtype);
}

// Of a recurrent model: logits and, with a bias, their products; the states of a layer and of what it reads.
uint64_t recurrent_gradient_bytes(const ModelConfig& c, int64_t rows, DType dtype) {
  WalkedWidths walk;
  walk.take(c.vocab_size);
  if (c.head_bias) walk.through(c.vocab_size, c.vocab_size);
  walk.through(c.vocab_size, c.d_hidden);  // to the last layer's states
  for (int layer = c.n_layers; layer-- > 0;) walk.through(c.d_hidden, layer == 0 ? c.d_model : c.d_hidden);
  return walk.bytes(rows, dtype);
}

// Nothing is computed again: a layer's way back reads all of its tensors.
uint64_t recurrent_kept_bytes(const ModelConfig& c, int64_t rows, DType dtype) {
  const auto rows_of = [&](int64_t width) { return padded_bytes(rows * width, dtype); };
  const int64_t n_tensors = int64_t{c.n_layers} * recurrent_layer_tensors(c.architecture);
  return rows_of(c.d_model) + static_cast<uint64_t>(n_tensors) * rows_of(c.d_hidden) +
         (c.head_bias ? 2 : 1) * rows_of(c.vocab_size);
}

}  // namespace

TrainingMemory training_memory(const ModelConfig& config, int64_t rows, Activations activations, DType dtype) {
  TrainingMemory memory;
  memory.weights = weight_bytes_in_training(config, dtype);
  memory.optimizer = 2 * memory.weights;
  if (config.is_recurrent()) {
    memory.activations = recurrent_kept_bytes(config, rows, dtype);
    memory.activation_gradients = recurrent_gradient_bytes(config, rows, dtype);
    return memory;
  }
  memory.activations = activations == Activations::keep ? kept_activation_bytes(config, rows, dtype)
                                                        : activation_bytes(config, rows, rows, dtype);
  memory.activation_gradients = activation_gradient_bytes(config, rows, dtype);
  return memory;
}

}  // namespace orrery
