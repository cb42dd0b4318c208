// The encoder-decoder transformer (Vaswani et al., 2017): blocks of the decoder-only transformer on both sides, in its
// pre-norm form, and in the decoder's blocks a second attention, to the encoded source. Encoder and decoder share one
// table of tokens, which also is the head.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/encoder.h"
#include "compare/sequence_model.h"

namespace orrery {

struct SequenceTransformerShape {
  int n_layers = 2;  // of the encoder, and as many of the decoder
  int d_model = 64;
  int n_heads = 4;
  int d_ff = 0;  // 0: 8/3 of the width, up to a multiple of 32
  int vocab_size = 0;
  int context_length = 0;  // longest source or target, with begin and end
};

// Of either side. Throws Error where the heads cannot share the width.
ModelConfig stack_config(const SequenceTransformerShape& shape);
// "encoder.blk.0.attn_q.weight", "decoder.blk.0.cross_attn_q.weight", ...
std::vector<NamedShape> sequence_transformer_weights(const SequenceTransformerShape& shape);

// The decoder: a Transformer with one more attention in each block.
class SourceDecoder : public Transformer {
 public:
  // `prefix`: of its weights in the parameters. The weights of the second attention are theirs.
  SourceDecoder(std::shared_ptr<const Checkpoint> checkpoint, const Parameters& parameters, const std::string& prefix);

  // What a layer's rows look at in the encoder's output x [n, d_model]: keys and values [n, d_model].
  void add_layers(Encoded& encoded, const Tensor& x, Kernels& kernels, Arena& arena) const;
  Tensor decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of, Kernels& kernels,
                Arena& arena, std::span<Observer* const> observers);

 private:
  struct CrossWeights {
    NormWeights norm;
    LinearWeights q, k, v, out;
  };
  Tensor block_with_source(Pass& pass, const Encoded& encoded, std::span<const int> source_of, const Tensor& x) const;

  std::vector<CrossWeights> cross_;  // of each block
};

class SequenceTransformer : public SequenceModel {
 public:
  // Runs on weights of these names and shapes, which must outlive it.
  SequenceTransformer(const SequenceTransformerShape& shape, const Parameters& parameters);

  const std::string& name() const override { return name_; }
  int vocab_size() const override { return decoder_.config().vocab_size; }
  Encoded encode(std::span<const std::vector<TokenId>> sources, Kernels& kernels, Arena& arena,
                 std::span<Observer* const> observers = {}) override;
  Tensor decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of, Kernels& kernels,
                Arena& arena, std::span<Observer* const> observers = {}) override {
    return decoder_.decode(encoded, rows, source_of, kernels, arena, observers);
  }
  std::unique_ptr<SequenceState> new_target() override { return decoder_.new_sequence(); }
  std::string alignment_name() const override;  // of the last block: [heads, rows, source rows]

 private:
  std::string name_ = "transformer";
  EncoderTransformer encoder_;
  SourceDecoder decoder_;
};

}  // namespace orrery
